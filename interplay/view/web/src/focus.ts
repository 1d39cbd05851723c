/** Where the keyboard is: it never falls out of the page when what it was on is drawn no more. */

let [last, opener] = [null as Element | null, null as string | null];

/** Hears where the focus goes. */
export function noteFocus(event: FocusEvent): void {
  last = event.target as Element;
  if (last.matches(".sources button")) opener = last.getAttribute("aria-label");
}

/** Goes to the world, or what is shown instead of one; on the list to what was opened last. */
export function focusWorld(): void {
  const main = document.querySelector<HTMLElement>("main");
  const back = [...document.querySelectorAll<HTMLElement>(".sources button")].find((one) => one.getAttribute("aria-label") === opener);
  (main?.querySelector<HTMLElement>("canvas[tabindex]") ?? back ?? main)?.focus();
}

/** After a drawing: what had the focus may be gone; what is shown instead may still be on its way. */
export function keepFocus(): void {
  if (last && !last.isConnected && document.activeElement === document.body && document.querySelector("main")) ((last = null), focusWorld());
}
