/** A panel that is fetched when it is looked at first. */

import { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { keepFocus } from "../focus";
import { T } from "../strings";

const Gone = () => <p class="error">{T.serverGone}</p>;

export function Later<Of extends object>({ load, ...of }: Of & { load: () => Promise<FunctionComponent<Of>> }) {
  const [Panel, setPanel] = useState<FunctionComponent<Of> | null>(null);
  useEffect(
    () =>
      void load().then(
        (found) => setPanel(() => found),
        () => setPanel(() => Gone),
      ),
    [load],
  );
  useEffect(keepFocus, [Panel]);
  return Panel ? <Panel {...(of as unknown as Of)} /> : <p class="quiet">{T.loading}</p>;
}
