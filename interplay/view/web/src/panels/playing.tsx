/** Taking an agent over: by the world's own keys, and by a form made from the rest of its action space. */

import { Box, Discrete, HeadInfo, rangeOf, restOf } from "../api";
import { CHOICE_KEYS, isForm } from "../hands";
import { choicesOf } from "../keys";
import { Live } from "../live";
import type { Page } from "../page";
import { P } from "./strings";
import { short } from "../words";

const MOST_BUTTONS = CHOICE_KEYS.length; // as many as there are keys; more are chosen by number

export function Playing({ page, live, slot }: { page: Page; live: Live; slot: number }) {
  const holder = live.status.holders[slot];
  const mine = holder === "you";
  if (!live.mayPlay) return <p class="quiet">{P.cannotPlay}</p>;
  if (holder === "somebody") return <p class="quiet">{P.heldBySomebody}</p>;
  const hands = page.hands!;
  const gone = hands.isGone(slot);
  const form = mine && !gone ? hands.formOf(live, slot) : [];
  return (
    <div class="playing">
      <button type="button" class="wide" aria-pressed={mine} onClick={() => page.run("take")}>
        {mine ? P.give : live.held !== null ? P.giveOther(page.nameOf(live.held)) : P.take}
      </button>
      {mine && !live.turnBased && <WaitForMe live={live} />}
      {mine && live.controls && <ControlKeys live={live} />}
      {form.length > 0 && <Form page={page} live={live} heads={form} slot={slot} />}
      {mine && !gone && !isForm(form) && (live.status.waits || (live.turnBased && !form.length)) && (
        <button type="button" class="wide" onClick={() => hands.pass(live, slot)}>
          <kbd>{P.enter}</kbd> {live.controls ? P.pass : P.passFirst}
        </button>
      )}
    </div>
  );
}

function WaitForMe({ live }: { live: Live }) {
  return (
    <label class="row">
      <input type="checkbox" checked={live.status.waits} onChange={(event) => live.say({ type: "wait", on: (live.status.waits = event.currentTarget.checked) })} /> {P.waitForMe}
    </label>
  );
}

/** The world's own keys and what they mean. */
export function ControlKeys({ live }: { live: Live }) {
  const keys = live.controls!.keys;
  const keysOf = new Map<string, string[]>();
  for (const key of Object.keys(keys)) {
    const label = choicesOf(keys, key).map((one) => labelOf(live.heads[one.head], one.choice)).join(", ");
    keysOf.set(label, [...(keysOf.get(label) ?? []), P.keyNames[key] ?? key.toUpperCase()]);
  }
  return (
    <>
      <h3>{P.controlKeys}</h3>
      <dl class="keys">
        {[...keysOf].map(([label, names]) => (
          <div>
            <dt>
              {names.map((name) => (
                <kbd>{name}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function labelOf(head: HeadInfo | undefined, choice: number): string {
  return head?.labels?.[choice] ?? P.choice(choice);
}

function Form({ page, live, heads, slot }: { page: Page; live: Live; heads: HeadInfo[]; slot: number }) {
  const hands = page.hands!;
  const single = !isForm(heads);
  const asked = heads.filter((one) => one.kind === "discrete")[hands.place]?.name;
  return (
    <form
      class="form"
      aria-label={P.chooseAction}
      onSubmit={(event) => {
        event.preventDefault();
        hands.act(live, slot);
      }}
    >
      {heads.map((head) => (
        <fieldset>
          <legend>{head.name}</legend>
          {head.kind === "box" ? (
            <Sliders head={head} values={hands.action[head.name] as number[] | undefined} choose={(values) => hands.choose(head.name, values)} />
          ) : (
            <Choose
              head={head}
              digits={head.name === asked}
              chosen={hands.action[head.name] as number | undefined}
              choose={(choice) => {
                hands.choose(head.name, choice, heads);
                if (single) hands.act(live, slot);
              }}
            />
          )}
        </fieldset>
      ))}
      {!live.turnBased && !live.status.waits && (
        <label class="row">
          <input type="checkbox" checked={hands.repeat} onChange={(event) => hands.setRepeat(event.currentTarget.checked)} /> {P.repeat}
        </label>
      )}
      {!single && (
        <button type="submit" class="wide">
          <kbd>{P.enter}</kbd> {P.act}
        </button>
      )}
    </form>
  );
}

type Choosing = { head: Discrete; digits: boolean; chosen: number | undefined; choose: (choice: number) => void };

/** @param digits whether keys choose among these. */
function Choose({ head, digits, chosen, choose }: Choosing) {
  if (head.n > MOST_BUTTONS)
    return (
      <label class="row">
        <input type="number" min={0} max={head.n - 1} aria-label={head.name} value={chosen ?? ""} onChange={(event) => event.currentTarget.validity.valid && choose(Number(event.currentTarget.value))} />
        <output>{chosen === undefined ? "" : labelOf(head, chosen)}</output>
      </label>
    );
  return (
    <div class="buttons">
      {Array.from({ length: head.n }, (_, choice) => {
        const legal = head.legal?.[choice] ?? true;
        return (
          <button type="button" aria-label={labelOf(head, choice)} class={legal ? "" : "illegal"} aria-disabled={!legal} title={legal ? undefined : P.notLegalTitle} aria-pressed={chosen === choice} onClick={() => legal && choose(choice)}>
            {digits && <kbd>{CHOICE_KEYS[choice]}</kbd>} {head.labels?.[choice] ?? choice}
            {!legal && <small> {P.illegal}</small>}
          </button>
        );
      })}
    </div>
  );
}

function Sliders({ head, values, choose }: { head: Box; values: number[] | undefined; choose: (values: number[]) => void }) {
  const now = values ?? restOf(head);
  return (
    <>
      {head.low.map((_, i) => (
        <label class="row">
          {head.labels && <span>{head.labels[i]}</span>}
          <input
            type="range"
            min={rangeOf(head, i)[0]}
            max={rangeOf(head, i)[1]}
            step={(rangeOf(head, i)[1] - rangeOf(head, i)[0]) / 100}
            value={now[i]}
            aria-label={`${head.name} ${head.labels?.[i] ?? i}`}
            onInput={(event) => choose(now.map((value, j) => (j === i ? Number(event.currentTarget.value) : value)))}
          />
          <output>{short(now[i])}</output>
        </label>
      ))}
    </>
  );
}
