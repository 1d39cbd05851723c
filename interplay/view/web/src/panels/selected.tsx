/** The selected agent: what is drawn, outputs of its policy, and observation. */

import { isThere, middle } from "../agents";
import { Agent, Box, Discrete, HeadInfo, rangeOf } from "../api";
import { colourOf } from "../flat";
import { Glide } from "../glide";
import { lifeOf } from "../life";
import type { Page } from "../page";
import { barColour, hex } from "../palette";
import { Layer, flag } from "../scene";
import { T } from "../strings";
import { P } from "./strings";
import { barsOf, kindOf, marksOf, short } from "../words";
import { Later } from "./later";
import { Bar } from "./parts";

const MOST_CHOICES = 60;
const MOST_EVENTS = 8;

const playing = async () => (await import("./playing")).Playing;
const observationPanel = async () => (await import("./observation")).ObservationPanel;

export function Selected({ page, slot }: { page: Page; slot: number }) {
  const { live, problem } = page.player;
  const agents = problem ? null : page.player.agents; // those in view are of another tick then
  const { details, detailsError } = page;
  const here = agents && isThere(agents, slot);
  const gone = agents ? !here : details?.present === false;
  return (
    <>
      <h2>
        {here && <span class="chip" style={{ background: hex(colourOf(agents, slot)) }} />}
        {page.nameOf(slot)}
        <small>{[here ? kindOf(agents, slot) : "", P.slot(slot), details?.team !== null && details?.team !== undefined ? P.team(details.team) : ""].filter(Boolean).join(" · ")}</small>
      </h2>
      {gone && <p class="quiet">{P.absent}</p>}
      {here && <Drawn agents={agents} slot={slot} />}
      <Life page={page} slot={slot} />
      {live && <Later load={playing} page={page} live={live} slot={slot} />}
      {live && !page.player.atPresent ? <p class="quiet">{P.presentOnly}</p> : details ? <Details page={page} agent={details} playing={live?.held === slot} /> : <p class="quiet">{detailsError ?? T.loading}</p>}
    </>
  );
}

/** Its bars, place and marks in the picture. */
function Drawn({ agents, slot }: { agents: Layer; slot: number }) {
  const dead = flag(agents, "dimmed", slot);
  const states = [dead ? P.dead : "", ...marksOf(agents, slot)].filter(Boolean);
  return (
    <>
      {barsOf(agents, slot).map(({ name, value, full }, place, bars) => (
        <Meter name={name} value={value} colour={bars.length > 1 ? barColour(place, bars.length, 1) : undefined} share={full > 0 ? value / full : 0} text={full > 0 ? `${short(value)} / ${short(full)}${value > full ? ` ${P.overFull}` : ""}` : short(value)} />
      ))}
      <dl>
        <dt>{P.place}</dt>
        <dd>{middle(new Glide(agents, null, 0), slot).map((value) => value.toFixed(2)).join(", ")}</dd>
        {states.length > 0 && (
          <>
            <dt>{P.state}</dt>
            <dd>{states.join(", ")}</dd>
          </>
        )}
      </dl>
    </>
  );
}

/** Events since its last birth, as far as this page has them; each leads to its tick. */
function Life({ page, slot }: { page: Page; slot: number }) {
  const { source, tick } = page.player;
  const { born, age, events } = lifeOf(source?.marks ?? [], slot, tick);
  if (born === null && !events.length) return null;
  return (
    <>
      <h3>{P.lifeSoFar}</h3>
      {born !== null && <p class="quiet">{P.bornAt(born, age!)}</p>}
      <ul class="life">
        {events.slice(-MOST_EVENTS).map((mark) => (
          <li>
            <button type="button" onClick={() => page.player.seek(mark.tick)}>
              {T.event(T.kinds[mark.kind] ?? mark.kind, [], mark.tick)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function Meter({ name, value, share, text, low = 0.5, colour }: { name: string; value: number; share: number; text: string; low?: number; colour?: string | undefined }) {
  return (
    <div class="meter" role="meter" aria-label={name} aria-valuenow={value} aria-valuetext={text}>
      <span class="name">{name}</span>
      <Bar share={share} kind={share > low ? "good" : "low"} colour={colour} />
      <span class="number">{text}</span>
    </div>
  );
}

function Details({ page, agent, playing }: { page: Page; agent: Agent; playing: boolean }) {
  const heads = playing || (!agent.acting && !agent.chosen) ? [] : agent.heads; // shown by the form while playing; none for an agent that did not act

  const metrics = Object.entries(agent.metrics).filter(([, value]) => value !== null);
  const facts: [string, string][] = [
    [P.policy, agent.policy],
    [P.value, short(agent.value)],
    [P.reward, short(agent.reward)],
    [P.return, short(agent.return)],
  ];
  return (
    <>
      {!agent.acting && agent.present && <p class="quiet">{P.waiting}</p>}
      <dl>
        {facts
          .filter(([, value]) => value && value !== "-")
          .map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
      {agent.note && <p class="quiet">{agent.note}</p>}
      {heads.length > 0 && <h3>{P.nextMove}</h3>}
      {heads.map((head) => (
        <Head head={head} chosen={agent.chosen?.[head.name]} alone={heads.length === 1} />
      ))}
      {heads.length > 0 && agent.chosen && <p class="quiet">● {P.chosen}</p>}
      {metrics.length > 0 && (
        <>
          <h3>{P.metrics}</h3>
          <dl>
            {metrics.map(([name, value]) => (
              <>
                <dt>{name}</dt>
                <dd>{short(value)}</dd>
              </>
            ))}
          </dl>
        </>
      )}
      {agent.observation.length > 0 && <Later load={observationPanel} page={page} observation={agent.observation} />}
    </>
  );
}

function Head({ head, chosen, alone }: { head: HeadInfo; chosen: unknown; alone: boolean }) {
  return (
    <section class="head">
      {!alone && <h4>{head.name}</h4>}
      {head.kind === "discrete" ? <Choices head={head} chosen={chosen} /> : <Means head={head} chosen={chosen} />}
    </section>
  );
}

/** The probability of each choice; illegal ones are hatched and named. */
function Choices({ head, chosen }: { head: Discrete; chosen: unknown }) {
  const all = Array.from({ length: head.n }, (_, choice) => choice);
  const listed = all.slice(0, MOST_CHOICES);
  if (!head.probabilities) return <Plain head={head} listed={listed} chosen={chosen} />;
  return (
    <ul class="choices">
      {listed.map((choice) => {
        const legal = head.legal?.[choice] ?? true;
        const probability = head.probabilities?.[choice] ?? null;
        const text = !legal ? P.illegal : probability === null ? "" : `${(100 * probability).toFixed(probability < 0.0995 ? 1 : 0)} %`;
        return (
          <li class={legal ? "" : "illegal"}>
            <span class="name">
              {head.labels?.[choice] ?? P.choice(choice)}
              {chosen === choice && <b title={P.chosen}> ●</b>}
            </span>
            <Bar share={legal ? (probability ?? 0) : 0} kind="share" />
            <span class="number">{text}</span>
          </li>
        );
      })}
      {all.length > listed.length && <li class="quiet">{P.more(all.length - listed.length)}</li>}
    </ul>
  );
}

/** Choices of a policy that tells no probabilities. */
function Plain({ head, listed, chosen }: { head: Discrete; listed: number[]; chosen: unknown }) {
  return (
    <ul class="choices plain">
      {listed.map((choice) => {
        const legal = head.legal?.[choice] ?? true;
        return (
          <li class={legal ? "" : "illegal"}>
            {head.labels?.[choice] ?? choice}
            {!legal && <small>{P.illegal}</small>}
            {chosen === choice && <b title={P.chosen}>●</b>}
          </li>
        );
      })}
      {head.n > listed.length && <li class="quiet">{P.more(head.n - listed.length)}</li>}
    </ul>
  );
}

function Means({ head, chosen }: { head: Box; chosen: unknown }) {
  const values = head.mean ?? (Array.isArray(chosen) ? (chosen as number[]) : null);
  if (!values) return null;
  return (
    <>
      {values.slice(0, MOST_CHOICES).map((value, i) => {
        const [low, high] = rangeOf(head, i);
        return <Meter name={`${head.name} ${head.labels?.[i] ?? (values.length > 1 ? i : "")}`} value={value} share={(value - low) / (high - low || 1)} text={short(value)} low={-1} />;
      })}
    </>
  );
}
