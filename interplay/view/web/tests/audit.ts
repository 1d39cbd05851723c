/** What is wrong with a page for those who do not see it, or see little, or use no mouse; one line for each fault. */

import type { Page as Tab } from "playwright-core";

const CONTROLS = ["button", "checkbox", "combobox", "link", "radio", "searchbox", "slider", "spinbutton", "tab", "textbox", "DisclosureTriangle"];
const NAMED = [...CONTROLS, "image", "dialog", "form", "group", "meter", "progressbar", "tablist", "tabpanel", "complementary"];
const GROUPS = ["banner", "complementary", "contentinfo", "dialog", "form", "group", "main", "row", "tablist"];

interface Node {
  nodeId: string;
  parentId?: string;
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  properties?: { name: string; value: { value: unknown } }[];
}

/** The tree that the browser hands to screen readers: every control is named, no two of a group alike, headings and landmarks are in order. */
export async function treeFaults(tab: Tab): Promise<string[]> {
  const session = await tab.context().newCDPSession(tab);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as unknown as { nodes: Node[] };
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const faults: string[] = [];
  const role = (node: Node) => node.role?.value ?? "";
  const name = (node: Node) => String(node.name?.value ?? "").trim();
  const groupOf = (node: Node): string => {
    const above = byId.get(node.parentId ?? "");
    return !above ? "" : GROUPS.includes(role(above)) && !above.ignored ? above.nodeId : groupOf(above);
  };
  const seen = new Set<string>();
  const told = nodes.filter((node) => !node.ignored);
  // What can be folded away is named by its first line, which is a control.
  const folded = new Set(told.filter((one) => role(one) === "DisclosureTriangle").map(groupOf));
  for (const node of told.filter((one) => NAMED.includes(role(one)) && !folded.has(one.nodeId))) {
    // What is told by a sign alone is read as the sign's name, or not at all.
    if (!/[\p{L}\p{N}]/u.test(name(node))) faults.push(`${role(node)} "${name(node)}" in ${name(byId.get(groupOf(node)) ?? node)} has no name`);
    if (!CONTROLS.includes(role(node))) continue;
    const key = `${groupOf(node)} ${role(node)} ${name(node)}`;
    if (seen.has(key)) faults.push(`two of ${role(node)} "${name(node)}" in one group`);
    seen.add(key);
  }
  if (told.some((node) => role(node) === "dialog")) return faults; // nothing else can be reached
  const headings = told.filter((node) => role(node) === "heading");
  const levels = headings.map((node) => Number(node.properties?.find((one) => one.name === "level")?.value.value));
  if (levels.filter((level) => level === 1).length !== 1) faults.push(`${levels.filter((level) => level === 1).length} headings of level 1`);
  levels.forEach((level, i) => i && level > levels[i - 1]! + 1 && faults.push(`heading "${name(headings[i]!)}" of level ${level} follows one of level ${levels[i - 1]}`));
  for (const node of headings) if (!name(node)) faults.push("a heading is empty");
  for (const one of ["main", "banner"]) {
    const count = told.filter((node) => role(node) === one).length;
    if (count !== 1) faults.push(`${count} landmarks of ${one}`);
  }
  if (!told.some((node) => role(node) === "status")) faults.push("no live region");
  return faults;
}

/** What is seen: nothing cut, nothing over another control, no sideways scrolling, targets of 28 pixels, text with a contrast of 4.5. */
export function looksFaults(): string[] {
  const faults: string[] = [];
  const what = (element: Element) => `${element.tagName.toLowerCase()}${element.classList.length ? "." + [...element.classList].join(".") : ""} "${(element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40)}"`;
  const shown = (element: Element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getClientRects().length > 0;
  const open = document.querySelector("dialog[open]");
  const root = open ?? document.body;
  const sideways = document.documentElement.scrollWidth - innerWidth;
  if (sideways > 0) faults.push(`the page is ${sideways} pixels too wide`);

  const controls = [...root.querySelectorAll<HTMLElement>("button, input, select, summary, canvas[tabindex], [role=slider], a[href]")].filter(shown);
  const box = (control: HTMLElement) => {
    const label = control.matches("input[type=checkbox], input[type=file]") ? control.closest("label") : null;
    return (label ?? control).getBoundingClientRect();
  };
  for (const control of controls) {
    const { width, height } = box(control);
    if (width < 27.5 || height < 27.5) faults.push(`${what(control)} is a target of ${Math.round(width)} x ${Math.round(height)}`);
  }
  /** What is left of a box inside all that scrolls around it. */
  const visible = (element: HTMLElement) => {
    let { left, right, top, bottom } = box(element);
    for (let above = element.parentElement; above; above = above.parentElement) {
      if (getComputedStyle(above).overflow === "visible") continue;
      const edge = above.getBoundingClientRect();
      [left, right, top, bottom] = [Math.max(left, edge.left), Math.min(right, edge.right), Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
    }
    return { left, right, top, bottom };
  };
  const boxes = controls.map((control) => [control, visible(control)] as const);
  boxes.forEach(([a, p], i) => {
    for (const [b, q] of boxes.slice(i + 1)) {
      if (a.contains(b) || b.contains(a)) continue;
      const [wide, high] = [Math.min(p.right, q.right) - Math.max(p.left, q.left), Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top)];
      if (wide > 1 && high > 1) faults.push(`${what(a)} lies over ${what(b)}`);
    }
  });

  const parse = (text: string) => {
    const parts = /rgba?\(([^)]+)\)/.exec(text)?.[1]!.split(/[ ,/]+/).map(Number) ?? [0, 0, 0, 0];
    return [parts[0]!, parts[1]!, parts[2]!, parts[3] ?? 1] as const;
  };
  const over = (top: readonly number[], ground: readonly number[]) => [0, 1, 2].map((i) => top[i]! * top[3]! + ground[i]! * (1 - top[3]!));
  /** The colours that may lie behind an element's text. */
  const grounds = (element: Element | null): number[][] => {
    if (!element) return [[255, 255, 255]];
    const { backgroundColor, backgroundImage } = getComputedStyle(element);
    const [own, drawn] = [parse(backgroundColor), [...backgroundImage.matchAll(/rgba?\([^)]+\)/g)].map((found) => parse(found[0]!))];
    const below = own[3] === 1 ? [[own[0], own[1], own[2]]] : grounds(element.parentElement).map((ground) => over(own, ground));
    return [...below, ...below.flatMap((ground) => drawn.map((one) => over(one, ground)))];
  };
  const light = (colour: readonly number[]) => {
    const [r, g, b] = colour.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const told = new Set<Element>();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement!;
    if (!walker.currentNode.textContent!.trim() || told.has(element) || element.closest("#aloud, noscript, option") || !shown(element)) continue;
    told.add(element);
    const style = getComputedStyle(element);
    let opacity = 1;
    for (let above: Element | null = element; above; above = above.parentElement) opacity *= Number(getComputedStyle(above).opacity);
    for (const ground of grounds(element)) {
      const ink = parse(style.color);
      const text = over([...ink.slice(0, 3), ink[3] * opacity], ground);
      const [x, y] = [light(text), light(ground)];
      const contrast = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
      if (contrast < 4.5) faults.push(`${what(element)} has a contrast of ${contrast.toFixed(2)}`);
    }
    if (style.overflow !== "visible" && style.textOverflow === "ellipsis" && element.scrollWidth > element.clientWidth + 1 && !element.closest("[title]")) faults.push(`${what(element)} is cut off`);
    const range = document.createRange();
    range.selectNodeContents(element);
    const { left, right } = range.getBoundingClientRect();
    if ((right > innerWidth + 1 || left < -1) && !element.closest(".scroll, [role=tablist]")) faults.push(`${what(element)} leaves the page`);
  }
  return [...new Set(faults)];
}

/** Both. */
export async function faultsOf(tab: Tab): Promise<string[]> {
  return [...(await treeFaults(tab)), ...(await tab.evaluate(looksFaults))];
}
