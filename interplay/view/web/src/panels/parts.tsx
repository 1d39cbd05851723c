/** Parts that panels share: tables, choices, bars. */

import type { ComponentChildren, TableHTMLAttributes } from "preact";

type TableArguments = { head: ComponentChildren[]; children: ComponentChildren; label?: string; more?: TableHTMLAttributes };

/** A table in a box that scrolls; with a label the box has the focus of the keyboard. */
export function Table({ head, children, label, more = {} }: TableArguments) {
  const box = label ? { tabIndex: 0, role: "group" as const, "aria-label": label } : {};
  return (
    <div class="scroll" {...box}>
      <table {...more}>
        <thead>
          <tr>
            {head.map((title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

type ChoiceArguments = { label: string; value: string; options: (readonly [string, string])[]; choose: (value: string) => void };

/** A labelled list of options, values with their texts. */
export function Choice({ label, value, options, choose }: ChoiceArguments) {
  return (
    <label class="row">
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([key, text]) => (
          <option value={key}>{text}</option>
        ))}
      </select>
    </label>
  );
}

/** A horizontal bar, filled to a share of its width. */
export function Bar({ share, kind, colour }: { share: number; kind: "good" | "low" | "share"; colour?: string | undefined }) {
  return (
    <span class="bar">
      <span class={kind} style={{ width: `${100 * Math.min(Math.max(share, 0), 1)}%`, background: colour }} />
    </span>
  );
}
