/** Taking an agent over: by the world's own keys, or by a form made from its action space. */

import { Box, Discrete, HeadTold, rangeOf, restOf } from "../api";
import { Live } from "../live";
import type { Page } from "../page";
import { T } from "../strings";
import { short } from "../words";

const MOST_CHOICES = 60;

export function Playing({ page, live, slot }: { page: Page; live: Live; slot: number }) {
  const holder = live.status.holders[slot];
  if (!live.mayPlay) return <p class="quiet">{T.cannotPlay}</p>;
  if (holder === "somebody") return <p class="quiet">{T.heldBySomebody}</p>;
  return (
    <div class="playing">
      <button type="button" class="wide" aria-pressed={holder === "you"} onClick={() => page.run("take")}>
        {holder === "you" ? T.give : T.take}
      </button>
      {holder === "you" && (live.controls ? <ControlKeys live={live} /> : <Form page={page} heads={page.hands.headsOf(live, slot)} slot={slot} />)}
    </div>
  );
}

function ControlKeys({ live }: { live: Live }) {
  const told = Object.entries(live.controls!.keys).map(([key, choice]) => {
    const one = Array.isArray(choice) ? choice[0] : choice;
    const head = one && live.heads[one.head];
    const label = head?.kind === "discrete" ? head.labels?.[one!.choice] : null;
    return [key === " " ? "Space" : key.replace("Arrow", ""), label ?? T.choice(one?.choice ?? 0)] as const;
  });
  return (
    <>
      <h3>{T.controlKeys}</h3>
      <dl>
        {told.map(([key, label]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{label}</dd>
          </>
        ))}
      </dl>
    </>
  );
}

function Form({ page, heads, slot }: { page: Page; heads: HeadTold[]; slot: number }) {
  const { hands } = page;
  const live = page.player.live!;
  const single = heads.length === 1 && heads[0]!.kind === "discrete";
  return (
    <form
      class="form"
      aria-label={T.chooseAction}
      onSubmit={(event) => {
        event.preventDefault();
        hands.act(live, slot);
      }}
    >
      {heads.map((head, place) => (
        <fieldset>
          <legend>{head.name}</legend>
          {head.kind === "discrete" ? (
            <Buttons
              head={head}
              digits={place === heads.findIndex((one) => one.kind === "discrete")}
              chosen={hands.action[head.name] as number | undefined}
              choose={(choice) => {
                hands.choose(head.name, choice);
                if (single) hands.act(live, slot);
              }}
            />
          ) : (
            <Sliders head={head} values={hands.action[head.name] as number[] | undefined} choose={(values) => hands.choose(head.name, values)} />
          )}
        </fieldset>
      ))}
      {!live.turnBased && (
        <label class="row">
          <input type="checkbox" checked={hands.repeat} onChange={(event) => hands.setRepeat(event.currentTarget.checked)} /> {T.repeat}
        </label>
      )}
      {!single && (
        <button type="submit" class="wide">
          {T.act}
        </button>
      )}
    </form>
  );
}

/** @param digits whether digit keys choose among these. */
function Buttons({ head, chosen, digits, choose }: { head: Discrete; chosen: number | undefined; digits: boolean; choose: (choice: number) => void }) {
  return (
    <div class="buttons">
      {Array.from({ length: Math.min(head.n, MOST_CHOICES) }, (_, choice) => {
        const legal = head.legal?.[choice] ?? true;
        return (
          <button type="button" aria-label={head.labels ? undefined : T.choice(choice)} class={legal ? "" : "illegal"} disabled={!legal} title={legal ? undefined : T.notLegalTitle} aria-pressed={chosen === choice} onClick={() => choose(choice)}>
            {head.labels && digits && choice < 10 && <kbd>{choice}</kbd>} {head.labels?.[choice] ?? choice}
            {!legal && <small> {T.illegal}</small>}
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
          <input
            type="range"
            min={rangeOf(head, i)[0]}
            max={rangeOf(head, i)[1]}
            step={(rangeOf(head, i)[1] - rangeOf(head, i)[0]) / 100}
            value={now[i]}
            aria-label={`${head.name} ${i}`}
            onInput={(event) => choose(now.map((value, j) => (j === i ? Number(event.currentTarget.value) : value)))}
          />
          <output>{short(now[i])}</output>
        </label>
      ))}
    </>
  );
}
