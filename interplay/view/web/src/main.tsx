/** Starts the page and lays it out. */

import { Component, render } from "preact";
import { readLive } from "./address";
import { keepFocus, rememberFocus } from "./focus";
import { Page } from "./page";
import { Later } from "./panels/later";
import { Stage } from "./panels/stage";
import { Timeline } from "./panels/timeline";
import { T } from "./strings";

const REDRAW = 100; // ms between two drawings of the panels

class App extends Component {
  private readonly page = new Page(
    () => this.refresh(),
    (line) => this.aloud(line),
  );
  private timer = 0;
  private last = 0;

  override componentDidMount(): void {
    const { page } = this;
    // A handle for the console and for tests.
    (window as unknown as { interplay: Page }).interplay = page;
    addEventListener("keydown", (event) => page.onKey(event));
    addEventListener("pointerdown", () => page.dismiss());
    addEventListener("keyup", (event) => page.onKeyUp(event));
    addEventListener("blur", () => page.releaseKeys());
    addEventListener("focusin", rememberFocus);
    // While keys play a world, a click on a button leaves them there: Space would press it once more.
    addEventListener("mousedown", (event) => page.player.live?.held != null && (event.target as Element).closest("button, summary, label:has(> [type=checkbox])") && event.preventDefault());
    addEventListener("resize", () => ((page.width = innerWidth), this.refresh()));
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => this.forceUpdate());
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void page.openFile(file);
    });
    void agentPanel(); // preloads
    void page.start();
  }

  override componentDidUpdate(): void {
    keepFocus();
  }

  /** Draws soon, and not more than ten times a second. */
  private refresh(): void {
    if (this.timer) return;
    const wait = Math.max(REDRAW - (performance.now() - this.last), 0);
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.last = performance.now();
      this.forceUpdate();
    }, wait);
  }

  private aloud(line: string): void {
    const region = document.getElementById("aloud");
    if (region) region.textContent = line;
  }

  override render() {
    const { page } = this;
    const { source } = page.player;
    const anything = source !== null || page.runId !== null;
    return (
      <div class={!page.panels || !anything ? "page alone" : source ? "page" : "page study"}>
        <Header page={page} />
        {source ? <Stage page={page} /> : anything ? <Later key="study" load={studyPanel} page={page} /> : page.arrived ? <Later key="sources" load={sourceList} page={page} /> : <main class="sources quiet">{T.loading}</main>}
        {anything && page.panels && <Side page={page} />}
        {source && <Timeline page={page} />}
        {page.notice && (
          <p class="toast">{page.notice}</p>
        )}
        {page.help && <Later load={keyList} page={page} />}
      </div>
    );
  }
}

function Header({ page }: { page: Page }) {
  const { source, live } = page.player;
  const run = page.match !== null ? page.sources?.runs.find((one) => one.id === page.runId)?.name : null;
  return (
    <header>
      <strong>{T.name}</strong>
      {source && (
        <h1 class="title" title={run ?? source.title}>
          {run ?? source.title}
        </h1>
      )}
      {source && source.world !== source.title && <span class="quiet">{source.world}</span>}
      {source?.policy && (
        <span class="quiet policy" title={T.playedBy(source.policy)}>
          {T.playedBy(source.policy)}
        </span>
      )}
      {(page.matches.list.length > 0 || page.players.length > 1) && <Later load={matchChoice} page={page} />}
      {source && page.unrecorded && (
        <span class="quiet" title={T.noRecordings}>
          {T.unrecorded}
        </span>
      )}
      <span class="gap" />
      {live && <Connection page={page} />}
      {page.busy && <span class="quiet">{page.busy}</span>}
      {(source || page.runId !== null) && page.sources && (
        <button type="button" onClick={() => page.leave()}>
          {T.choose}
        </button>
      )}
      {source && (
        <button type="button" aria-pressed={page.panels} onClick={() => page.run("panels")}>
          {T.panels}
        </button>
      )}
    </header>
  );
}

function Connection({ page }: { page: Page }) {
  const live = page.player.live!;
  const { connection, status } = live;
  const from = readLive(page.live ?? "");
  const back = from?.kind === "recording" && (
    <button type="button" onClick={() => void page.back(from)}>
      {T.backToRecording}
    </button>
  );
  if (connection === "again" || connection === "ended")
    return (
      <>
        <span class="connection lost">
          {connection === "again" ? T.again : T.ended}{" "}
          <button type="button" onClick={() => live.again()}>
            {T.tryNow}
          </button>
        </span>
        {back}
      </>
    );
  if (connection === "connecting") return <span class="connection">{T.connecting}</span>;
  const { share } = live.thinning;
  const turn = status.waiting === null ? "" : status.holders[status.waiting] === "you" ? T.yourTurn(page.nameOf(status.waiting)) : T.somebodysTurn(page.nameOf(status.waiting));
  return (
    <>
      {turn && <span class="turn">{turn}</span>}
      <span class="connection">
        <span class={status.running ? "lamp on" : "lamp"} />
        {status.running ? `${T.live} · ${T.fps(page.player.framesPerSecond)}` : T.paused}
        {status.running && share !== null && <span title={T.ticksLeftOut}> · {T.ticksShown(share)}</span>}
      </span>
      {!page.about?.read_only && (
        <button type="button" onClick={() => live.say({ type: "reset", seed: null })}>
          {T.reset}
        </button>
      )}
      {back}
    </>
  );
}

function Side({ page }: { page: Page }) {
  const { source } = page.player;
  const tabs = [...(source ? ["agent"] : []), ...(source?.schema.bounds ? ["overlays"] : []), ...(page.player.pictured ? ["table"] : []), ...(page.learns ? ["curves"] : []), ...(page.runId !== null && page.ratings ? ["ratings"] : [])];
  const tab = tabs.includes(page.tab) ? page.tab : tabs[0]!;
  const move = (by: number, event: KeyboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]!;
    page.setTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <aside aria-label={T.panels}>
      <div
        role="tablist"
        aria-label={T.panels}
        onKeyDown={(event) => {
          if (event.key === "ArrowRight") move(1, event);
          if (event.key === "ArrowLeft") move(-1, event);
        }}
      >
        {tabs.map((one) => (
          <button type="button" role="tab" id={`tab-${one}`} aria-selected={one === tab} aria-controls="panel" tabIndex={one === tab ? 0 : -1} onClick={() => page.setTab(one)}>
            {T.tabs[one]}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "agent" && <Later load={agentPanel} page={page} />}
        {tab === "overlays" && <Later load={overlayPanel} page={page} />}
        {tab === "table" && <Later load={tablePanel} page={page} />}
        {tab === "curves" && page.runId !== null && <Later load={curvesPanel} page={page} run={page.runId} />}
        {tab === "ratings" && <Later load={ratingsPanel} page={page} ratings={page.ratings!} />}
      </div>
    </aside>
  );
}

const tablePanel = async () => (await import("./panels/twin")).TablePanel;
const keyList = async () => (await import("./panels/keys")).KeyList;
const agentPanel = async () => (await import("./panels/agent")).AgentPanel;
const curvesPanel = async () => (await import("./panels/curves")).CurvesPanel;
const overlayPanel = async () => (await import("./panels/overlays")).OverlayPanel;
const sourceList = async () => (await import("./panels/sources")).SourceList;
const studyPanel = async () => (await import("./panels/matches")).Study;
const matchChoice = async () => (await import("./panels/matches")).MatchChoice;
const ratingsPanel = async () => (await import("./panels/ratings")).RatingsPanel;

function begin(): void {
  const root = document.getElementById("page")!;
  try {
    new DecompressionStream("deflate-raw");
  } catch {
    root.textContent = T.noModule;
    return;
  }
  render(<App />, root);
}

begin();
