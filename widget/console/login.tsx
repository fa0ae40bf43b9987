// Who asks: a user with a password, or the holder of a key. Neither is stored: when the page is closed, both are gone.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { logIn, logOut, query, secrets } from "./api";

interface Given {
  /** Why it is asked for; "" where somebody wants to log in. */
  why: string;
  /** The namespace that stands in the form at first. */
  namespace?: number;
  close(): void;
  entered(): void;
}

export function Login({ why, namespace, close, entered }: Given) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [fault, setFault] = useState("");
  const [isBusy, setBusy] = useState(false);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const enter = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const given = (name: string) => String(form.get(name) ?? "").trim();
    setBusy(true);
    setFault("");
    const before = { ...secrets };
    try {
      secrets.key = given("key");
      if (given("user")) {
        await logIn(given("user"), String(form.get("password") ?? ""), Number(given("namespace") || 0));
      }
      // A key that nobody knows is told here, and not with the next query.
      await query("schema {}");
      entered();
    } catch (error) {
      Object.assign(secrets, before);
      setFault((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const leave = () => {
    logOut();
    entered();
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="login-title">
      <h2 id="login-title">{secrets.token || secrets.key ? "Logged in" : "Log in"}</h2>
      {why && <p>{why}</p>}
      <form onSubmit={enter}>
        <label>User <input name="user" autocomplete="username" /></label>
        <label>Password <input name="password" type="password" autocomplete="current-password" /></label>
        <label>Namespace <input name="namespace" type="number" min="0" placeholder="0" defaultValue={namespace === undefined ? "" : String(namespace)} /></label>
        <p class="muted">or, and as well where the server has both,</p>
        <label>Key <input name="key" type="password" autocomplete="off" placeholder="X-Auth-Token" /></label>
        {fault && <p class="fault" role="alert">{fault}</p>}
        <p class="muted">Kept in this page only: closing or reloading it logs you out.</p>
        <div class="buttons">
          {(secrets.token || secrets.key) && <button type="button" onClick={leave}>Log out</button>}
          <span class="space" />
          <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
          <button type="submit" class="main" disabled={isBusy}>Log in</button>
        </div>
      </form>
    </dialog>
  );
}
