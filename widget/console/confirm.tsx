// Asks before something is done that can't be undone. Enter cancels, as does Escape.

import { useLayoutEffect, useRef } from "preact/hooks";
import { Words } from "./words";

export interface Danger {
  title: string;
  words: string[];
  /** The word on the button. */
  action: string;
  go(): void;
}

export function Confirm({ danger, close }: { danger: Danger; close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    cancel.current?.focus();
  }, []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="confirm-title">
      <h2 id="confirm-title">{danger.title}</h2>
      {danger.words.map((it) => <p key={it}><Words text={it} /></p>)}
      <div class="buttons">
        <span class="space" />
        <button type="button" ref={cancel} onClick={() => dialog.current?.close()}>Cancel</button>
        <button type="button" class="main danger" onClick={() => { dialog.current?.close(); danger.go(); }}>{danger.action}</button>
      </div>
    </dialog>
  );
}
