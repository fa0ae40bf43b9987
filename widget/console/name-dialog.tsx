// Asks for the name of a query that is saved.

import { useLayoutEffect, useRef } from "preact/hooks";
import * as stored from "./stored";

export function NameDialog({ close, save }: { close(): void; save(name: string): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name") ?? "").trim();
    dialog.current?.close();
    save(name);
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="name-title">
      <h2 id="name-title">Save the query</h2>
      <form onSubmit={submit}>
        <label>Name <input name="name" required pattern=".*\S.*" title="a name" maxLength={100} autocomplete="off" list="saved-names" /></label>
        <datalist id="saved-names">{stored.saved().map((it) => <option key={it.name} value={it.name} />)}</datalist>
        <p class="muted">It is stored in this browser. A query of the same name is replaced.</p>
        <div class="buttons">
          <span class="space" />
          <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
          <button type="submit" class="main">Save</button>
        </div>
      </form>
    </dialog>
  );
}
