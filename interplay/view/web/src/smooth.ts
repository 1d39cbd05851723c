/** Means over a twentieth of the points around each; of those that there are. */
export function smoothed(values: (number | null)[]): (number | null)[] {
  const reach = Math.max(Math.round(values.length / 40), 1);
  return values.map((_, i) => {
    const near = values.slice(Math.max(i - reach, 0), i + reach + 1).filter((value) => value !== null);
    return near.length ? near.reduce((sum, value) => sum + value, 0) / near.length : null;
  });
}
