/** What the folder that was opened has: runs, recordings, worlds. */

import type { ComponentChildren } from "preact";
import type { Page } from "../page";
import { T } from "../strings";
import { Table } from "./parts";

export function SourceList({ page }: { page: Page }) {
  const { sources, about } = page;
  return (
    <main class="sources" tabIndex={-1}>
      <h1>{about?.opened && about.opened !== "." ? about.opened : T.sources}</h1>
      {page.error && <p class="error">{page.error}</p>}
      {page.waits && <p>{T.nothing}</p>}
      {sources && <Runs page={page} />}
      {sources && <Recordings page={page} />}
      {sources && <Worlds page={page} />}
      <p class="quiet">
        {T.dropHere}{" "}
        <label class="file">
          {T.chooseFile}
          <input type="file" accept=".replay" onChange={(event) => event.currentTarget.files?.[0] && void page.openFile(event.currentTarget.files[0])} />
        </label>
      </p>
    </main>
  );
}

function Section({ title, columns, children }: { title: string; columns: string[]; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      <Table head={[...columns, ""]}>{children}</Table>
    </section>
  );
}

function Runs({ page }: { page: Page }) {
  const { runs } = page.sources!;
  if (!runs.length) return null;
  return (
    <Section title={T.runs} columns={[T.columns.name, T.columns.world, T.columns.steps]}>
      {runs.map(({ id, name, world, agent_steps, checkpoint, ratings }) => (
        <tr>
          <th scope="row">{name}</th>
          <td>{world}</td>
          <td class="figure">{checkpoint ? agent_steps.toLocaleString("en-US") : "-"}</td>
          <td class="acts">
            <button type="button" aria-label={`${ratings && !checkpoint ? T.tabs.ratings : T.study} ${name}`} onClick={() => void page.openRun(id)}>
              {ratings && !checkpoint ? T.tabs.ratings : T.study}
            </button>
            {!page.about?.read_only && (checkpoint || !ratings) && (
              <button type="button" aria-label={`${T.watch} ${name}`} disabled={!checkpoint} title={checkpoint ? undefined : T.noCheckpoint} onClick={() => page.openLive(`run:${id}`)}>
                {T.watch}
              </button>
            )}
          </td>
        </tr>
      ))}
    </Section>
  );
}

function Recordings({ page }: { page: Page }) {
  const { recordings } = page.sources!;
  if (!recordings.length) return null;
  return (
    <Section title={T.recordings} columns={[T.columns.name, T.columns.world, T.columns.ticks, T.columns.policy, T.columns.date]}>
      {recordings.map(({ id, name, world, ticks, policy, date, problem }) => (
        <tr>
          <th scope="row">{name}</th>
          <td>{world}</td>
          <td class="figure">{problem ? "-" : T.ticks(ticks)}</td>
          <td>{problem ?? policy}</td>
          <td>{date?.slice(0, 16).replace("T", " ") ?? ""}</td>
          <td class="acts">
            <button type="button" aria-label={`${T.open} ${name}`} onClick={() => void page.openMatch(id)}>
              {T.open}
            </button>
          </td>
        </tr>
      ))}
    </Section>
  );
}

function Worlds({ page }: { page: Page }) {
  const { worlds } = page.sources!;
  if (!worlds.length || page.about?.read_only) return null;
  return (
    <Section title={T.worlds} columns={[T.columns.world]}>
      {worlds.map(({ id, name }) => (
        <tr>
          <th scope="row">{name}</th>
          <td class="acts">
            <button type="button" aria-label={`${T.play} ${name}`} onClick={() => page.openLive(`world:${id}`)}>
              {T.play}
            </button>
          </td>
        </tr>
      ))}
    </Section>
  );
}
