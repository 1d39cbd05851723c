/** A panel that is loaded on demand. */

import { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { keepFocus } from "../focus";
import { T } from "../strings";

const Gone = () => <p class="error">{T.serverGone}</p>;

export function Later<Of extends object>({ load, ...of }: Of & { load: () => Promise<FunctionComponent<Of>> }) {
  const [Panel, setPanel] = useState<FunctionComponent<Of> | null>(null);
  useEffect(() => {
    let late = false; // another panel stands here by now
    const show = (found: FunctionComponent<Of>) => void (late || setPanel(() => found));
    load().then(show, () => show(Gone));
    return () => void (late = true);
  }, [load]);
  useEffect(keepFocus, [Panel]);
  return Panel ? <Panel {...(of as unknown as Of)} /> : <p class="quiet">{T.loading}</p>;
}
