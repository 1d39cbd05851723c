/** Keeps the focus on the page when the focused element is removed. */

let [last, opener] = [null as Element | null, null as string | null];

/** Remembers the focused element. */
export function rememberFocus(event: FocusEvent): void {
  last = event.target as Element;
  if (last.matches(".sources button")) opener = last.getAttribute("aria-label");
}

/** Focuses the world, or what is shown instead; in the list, the entry opened last. */
export function focusWorld(): void {
  const main = document.querySelector<HTMLElement>("main");
  const back = [...document.querySelectorAll<HTMLElement>(".sources button")].find((one) => one.getAttribute("aria-label") === opener);
  (main?.querySelector<HTMLElement>("canvas[tabindex]") ?? back ?? main)?.focus();
}

/** After a redraw, moves the focus from a removed element to the world. */
export function keepFocus(): void {
  if (last && !last.isConnected && document.activeElement === document.body && document.querySelector("main")) ((last = null), focusWorld());
}
