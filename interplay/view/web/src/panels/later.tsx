/** A panel that is fetched when it is looked at first. */

import { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { T } from "../strings";

export function Later<Of extends object>({ load, ...of }: Of & { load: () => Promise<FunctionComponent<Of>> }) {
  const [Panel, setPanel] = useState<FunctionComponent<Of> | null>(null);
  useEffect(() => void load().then((found) => setPanel(() => found)), [load]);
  return Panel ? <Panel {...(of as unknown as Of)} /> : <p class="quiet">{T.loading}</p>;
}
