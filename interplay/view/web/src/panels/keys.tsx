/** The list of keys. */

import { useEffect, useRef } from "preact/hooks";
import { KEYS_OF } from "../keys";
import type { Page } from "../page";
import { T } from "../strings";
import { ControlKeys } from "./playing";
import { P } from "./strings";

export function KeyList({ page }: { page: Page }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current!.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-label={T.keys} onClose={() => page.showHelp(false)}>
      <div class="keys-head">
        <h2>{T.keys}</h2>
        <button type="button" onClick={() => dialog.current!.close()}>
          {T.close}
        </button>
      </div>
      {page.player.live?.controls && (
        <>
          <ControlKeys live={page.player.live} />
          <h3>{P.pageKeys}</h3>
        </>
      )}
      <dl class="keys">
        {KEYS_OF.map(([command, key]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{T.commands[command]}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        {T.mouse} {T.whilePlaying}
      </p>
    </dialog>
  );
}
