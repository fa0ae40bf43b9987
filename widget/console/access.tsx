// Keys and namespaces, for those who administer them: what others may do with them, the server says.

import { useEffect, useRef, useState } from "preact/hooks";
import { addNamespace, createKey, deleteNamespace, isValid, readAll, revokeKey, type Administered, type Key } from "./admin";
import { secrets } from "./api";
import { Confirm, type Danger } from "./confirm";
import { copied, copyNote } from "./copy";
import { Tabs } from "./tabs";

interface Given {
  /** Another number when somebody else has logged in. */
  who: number;
  tell(text: string): void;
  /** Opens the dialog to log in to a namespace. */
  logIn(namespace: number): void;
  /** Called when the page has another key. */
  entered(): void;
}

interface Made {
  key: Key;
  secret: string;
  isFirst: boolean;
}

export function AccessView({ who, tell, logIn, entered }: Given) {
  const [shape, setShape] = useState("Keys");
  const [all, setAll] = useState<Administered | null>(null);
  const [refusal, setRefusal] = useState("");
  const [fault, setFault] = useState("");
  const [danger, setDanger] = useState<Danger | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const [namespace, setNamespace] = useState(0);
  const learn = () => readAll().then(
    (it) => { setAll(it); setRefusal(""); },
    (error: Error) => { setAll(null); setRefusal(error.message); },
  );
  useEffect(() => void learn(), [who]);
  /** Does something, and shows what is wrong with it. */
  const act = async (go: () => Promise<void>) => {
    setFault("");
    try {
      await go();
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  const use = ({ key, secret }: Made) => {
    secrets.key = secret;
    if (!secrets.token) {
      secrets.user = `key ${key.name || key.id}${key.namespace ? ` in namespace ${key.namespace}` : ""}`;
    }
    entered();
  };
  return (
    <div class="access" role="tabpanel" id="view-panel-Access" aria-labelledby="view-Access">
      <div class="bar">
        <Tabs names={["Keys", "Namespaces"]} chosen={shape} choose={setShape} label="what gives access" prefix="access" />
      </div>
      <div class="scroll" role="tabpanel" id={`access-panel-${shape}`} aria-labelledby={`access-${shape}`} tabIndex={0}>
        {fault && <p class="fault" role="alert">{fault}</p>}
        {made && <Secret made={made} use={() => use(made)} done={() => setMade(null)} tell={tell} />}
        {refusal && (
          <>
            <p class="fault" role="alert">{refusal}.</p>
            <p class="muted">Keys and namespaces are shown to administrators: log in as a guardian, or with the key of an administrator.</p>
          </>
        )}
        {all && shape === "Keys" && <Keys {...{ all, setAll, act, setDanger, setMade, namespace, setNamespace }} />}
        {all && shape === "Namespaces" && (
          <Namespaces {...{ all, setAll, act, setDanger, tell, logIn }} makeKey={(id) => { setNamespace(id); setShape("Keys"); }} />
        )}
      </div>
      {danger && <Confirm danger={danger} close={() => setDanger(null)} />}
    </div>
  );
}

/** The secret of a new key. It is in the memory of the page until somebody has read it, or leaves the view. */
function Secret({ made, use, done, tell }: { made: Made; use(): void; done(): void; tell(text: string): void }) {
  const box = useRef<HTMLElement>(null);
  const [isUsed, setUsed] = useState(false);
  useEffect(() => box.current?.focus(), [made]);
  const copy = async () => tell(copyNote(await copied(made.secret), "the secret is copied"));
  return (
    <section class="secret" aria-label="the new key" tabIndex={-1} ref={box}>
      <h3>The secret of {made.key.name ? `the key ${made.key.name}` : "the key"}</h3>
      <p><code class="key">{made.secret}</code></p>
      <p>It is shown this once, and stored nowhere: the database has a digest of it. Programs send it in the header <code>X-Auth-Token</code>.</p>
      {made.isFirst && !isUsed && <p class="warning">From now on the server refuses requests without a key: also those of this page, until it uses one.</p>}
      <div class="buttons">
        <button type="button" class="main" onClick={copy}>Copy</button>
        <button type="button" disabled={isUsed} onClick={() => { setUsed(true); use(); }}>{isUsed ? "Used in this page" : "Use in this page"}</button>
        <button type="button" onClick={done}>Done</button>
      </div>
    </section>
  );
}

const ROLES: [string, string][] = [["read-only", "queries"], ["client", "queries and changes of data"], ["admin", "everything, as schemas, keys and backups"]];

/** A time of the server, to the minute. */
const minute = (time: string | null) => (time ? time.replace("T", " ").slice(0, 16) : "");

interface PartGiven {
  all: Administered;
  setAll(all: Administered): void;
  act(go: () => Promise<void>): Promise<void>;
  setDanger(danger: Danger): void;
}

interface KeysGiven extends PartGiven {
  setMade(made: Made): void;
  /** The namespace of the next key. */
  namespace: number;
  setNamespace(id: number): void;
}

function Keys({ all, setAll, act, setDanger, setMade, namespace, setNamespace }: KeysGiven) {
  const { keys, namespaces } = all;
  const isFirst = keys.length === 0;
  const form = useRef<HTMLFormElement>(null);
  const make = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(form.current!);
    const text = (name: string) => String(given.get(name) ?? "").trim();
    const input = { name: text("name"), role: text("role"), expiresIn: text("expires"), ...(namespaces.length > 1 && { namespace }) };
    const go = () => void act(async () => {
      const { key, secret } = await createKey(input);
      setMade({ key, secret, isFirst });
      setAll({ ...all, keys: [...keys, key] });
      form.current?.reset();
    });
    if (!isFirst || (input.role === "admin" && namespace === 0)) {
      return go();
    }
    setDanger({
      title: "Make the first key without the rights of an administrator?",
      words: [
        "Once there is a key, requests without one are refused. This one may not make others, so that nobody could administer the server over the network.",
        "Make one with the role admin first; `hexgraph keys create` on the machine of the database makes one, too.",
      ],
      action: "Make it",
      go,
    });
  };
  const revoke = (key: Key) => {
    const others = keys.filter((it) => it !== key && it.role === "admin" && it.namespace === 0 && isValid(it));
    const isLast = key.role === "admin" && key.namespace === 0 && !others.length;
    setDanger({
      title: `Revoke the key ${key.name || key.id}?`,
      words: [
        "It is refused from the next request on, and transactions and subscriptions that began with it end. That can't be undone.",
        ...(isLast ? ["No other key of an administrator is valid in this list: the server may then be administered on its machine only."] : []),
      ],
      action: "Revoke",
      go: () => void act(async () => {
        await revokeKey(key.id);
        const revoked = new Date().toISOString();
        setAll({ ...all, keys: keys.map((it) => (it === key ? { ...it, revoked } : it)) });
      }),
    });
  };
  return (
    <>
      {isFirst
        ? <p class="muted">There are no keys. A key lets a program in, with a role and in one namespace; once there is one, requests without a key are refused.</p>
        : (
          <div class="scroll" tabIndex={0} role="region" aria-label="keys">
            <table>
              <thead><tr><th>name</th><th class="wide-only">id</th><th>role</th><th>namespace</th><th class="wide-only">made (UTC)</th><th>expires (UTC)</th><th>state</th><th><span class="hidden">actions</span></th></tr></thead>
              <tbody>
                {keys.map((key) => (
                  <tr key={key.id} class={isValid(key) ? "" : "muted"}>
                    <td>{key.name}</td>
                    <td class="wide-only"><code>{key.id}</code></td>
                    <td>{key.role}</td>
                    <td class="number">{key.namespace}</td>
                    <td class="wide-only">{minute(key.made)}</td>
                    <td>{minute(key.expires) || "never"}</td>
                    <td>{key.revoked ? `revoked ${minute(key.revoked)}` : isValid(key) ? "valid" : "expired"}</td>
                    <td>{isValid(key) && <button type="button" onClick={() => revoke(key)} aria-label={`revoke the key ${key.name || key.id}`}>Revoke</button>}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      <form ref={form} onSubmit={make}>
        <fieldset>
          <legend>New key</legend>
          <label class="row"><span>name <small>What it is for.</small></span><input name="name" required autocomplete="off" maxLength={100} /></label>
          <label class="row">
            <span>role</span>
            <select name="role" key={String(isFirst)}>
              {ROLES.map(([it, may]) => <option key={it} value={it} selected={it === (isFirst ? "admin" : "read-only")}>{it}: {may}</option>)}
            </select>
          </label>
          <label class="row">
            <span>expires in <small>A time such as 12h or 90d; without one it does not expire.</small></span>
            <input name="expires" autocomplete="off" placeholder="never" list="lifetimes" />
          </label>
          <datalist id="lifetimes">{["1d", "30d", "90d", "365d"].map((it) => <option key={it} value={it} />)}</datalist>
          {namespaces.length > 1 && (
            <label class="row">
              <span>namespace</span>
              <select value={String(namespace)} onChange={(event) => setNamespace(Number(event.currentTarget.value))}>
                {namespaces.map((it) => <option key={it}>{it}</option>)}
              </select>
            </label>
          )}
          <div class="buttons"><span class="space" /><button type="submit" class="main">Make key</button></div>
        </fieldset>
      </form>
    </>
  );
}

interface NamespacesGiven extends PartGiven {
  tell(text: string): void;
  logIn(namespace: number): void;
  /** Shows the form for a key of a namespace. */
  makeKey(namespace: number): void;
}

function Namespaces({ all, setAll, act, setDanger, tell, logIn, makeKey }: NamespacesGiven) {
  const { keys, namespaces } = all;
  const hasUsers = secrets.token !== "";
  if (!namespaces.length) {
    return <p class="muted">You administer one namespace. All of them are listed for administrators of namespace 0.</p>;
  }
  const make = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void act(async () => {
      const id = await addNamespace(String(new FormData(form).get("password") ?? ""));
      setAll({ ...all, namespaces: [...namespaces, id] });
      form.reset();
      tell(`namespace ${id} is made`);
    });
  };
  const remove = (id: number) => setDanger({
    title: `Delete namespace ${id}?`,
    words: ["All of its data, its schema, users and keys are deleted. That can't be undone, and its number is not used again."],
    action: `Delete namespace ${id}`,
    go: () => void act(async () => {
      await deleteNamespace(id);
      setAll({ keys: keys.filter((it) => it.namespace !== id), namespaces: namespaces.filter((it) => it !== id) });
      tell(`namespace ${id} is deleted`);
    }),
  });
  return (
    <>
      <p class="muted">Each namespace is a graph of its own, with its own schema, users and keys. A request uses that of its login or of its key, else 0.</p>
      <table>
        <thead><tr><th>namespace</th><th>valid keys</th><th><span class="hidden">actions</span></th></tr></thead>
        <tbody>
          {namespaces.map((id) => (
            <tr key={id}>
              <td class="number">{id}</td>
              <td class="number">{keys.filter((it) => it.namespace === id && isValid(it)).length}</td>
              <td class="actions">
                {hasUsers && <button type="button" onClick={() => logIn(id)} aria-label={`log in to namespace ${id}`}>Log in</button>}
                <button type="button" onClick={() => makeKey(id)} aria-label={`make key for namespace ${id}`}>Make key</button>
                {id !== 0 && <button type="button" onClick={() => remove(id)} aria-label={`delete namespace ${id}`}>Delete</button>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <form onSubmit={make}>
        <fieldset>
          <legend>New namespace</legend>
          {hasUsers
            ? (
              <label class="row">
                <span>password of its groot <small>Without one it is that with which the server was started, else “password”.</small></span>
                <input name="password" type="password" autocomplete="new-password" minLength={6} />
              </label>
            )
            : <p class="muted">It is empty, and gets the next number. Its data are reached by a key for it.</p>}
          <div class="buttons"><span class="space" /><button type="submit" class="main">Make namespace</button></div>
        </fieldset>
      </form>
    </>
  );
}
