// The console: what stands on the page, and what moves between its parts.

import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { AccessView } from "./access";
import { AlgorithmsView } from "./algorithms";
import { openSession, Refused, refused, secrets, type Fault } from "./api";
import { Editor } from "./editor";
import { formatted } from "./format";
import { LANGUAGES, languageOf, type Outcome } from "./languages";
import { Login } from "./login";
import { NameDialog } from "./name-dialog";
import { Faults, Result } from "./panes";
import { about, read, type Schema } from "./schema";
import { SchemaView } from "./schema-view";
import { Sidebar } from "./sidebar";
import * as stored from "./stored";
import "./style.css";
import { Tabs } from "./tabs";

/** A first mutation, for a database without data. */
const FIRST = `{
  set {
    _:ada <name> "Ada" .
    _:ada <dgraph.type> "Person" .
    _:ada <knows> _:bob .
    _:bob <name> "Bob" .
    _:bob <dgraph.type> "Person" .
  }
}
`;

const VIEWS = ["Query", "Algorithms", "Schema", "Access"];

/** `failure` says why the token in the address was of no use. In the browser that has the session already, that does not matter. */
function App({ failure }: { failure: string }) {
  const [view, setView] = useState("Query");
  const [schema, setSchema] = useState<Schema>(about.now);
  const [isRead, setRead] = useState(false);
  const [note, setNote] = useState("");
  const [login, setLogin] = useState<{ why: string; namespace?: number } | null>(null);
  const [who, setWho] = useState(0);
  const [theme, setTheme] = useState(stored.theme());
  const [start, setStart] = useState<Start | null>(stored.draft);
  const tell = useCallback((text: string) => setNote(text), []);
  const learn = useCallback(() => read().then((it) => { setSchema(it); setRead(true); }, (error: Error) => setNote(error instanceof Refused ? "" : error.message)), []);
  useEffect(() => {
    refused.listen = (why) => setLogin((known) => known ?? { why: failure || why });
    void learn();
  }, []);
  useEffect(() => {
    const isDark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  }, [theme]);
  useEffect(() => {
    const timer = setTimeout(() => setNote(""), 6_000);
    return () => clearTimeout(timer);
  }, [note]);
  const flip = () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    stored.setTheme(next);
    setTheme(next);
  };
  const entered = () => {
    setLogin(null);
    setWho(who + 1);
    void learn();
  };
  const show = (text: string, runs = false) => {
    setStart({ name: "", language: "dql", text, runs });
    setView("Query");
  };
  const isKnown = secrets.key !== "" || secrets.token !== "";
  return (
    <>
      <header>
        <h1>hexgraph</h1>
        <Tabs names={VIEWS} chosen={view} choose={setView} label="parts of the console" prefix="view" />
        <span class="space" />
        <a href="graphql">GraphiQL</a>
        <button type="button" onClick={flip} title="dark or light">◐<span class="hidden">dark or light</span></button>
        <button type="button" onClick={() => setLogin({ why: "" })}>
          {isKnown ? secrets.user || "by key" : "Log in"}
        </button>
      </header>
      <main>
        <div class="query-view" hidden={view !== "Query"} role="tabpanel" id="view-panel-Query" aria-labelledby="view-Query">
          <QueryView key={who} schema={schema} isRead={isRead} start={start} tell={tell} changed={learn} />
        </div>
        <AlgorithmsView key={`algorithms ${who}`} schema={schema} isShown={view === "Algorithms"} run={(text) => show(text, true)} open={show} />
        {view === "Access" && <AccessView who={who} tell={tell} logIn={(namespace) => setLogin({ why: "", namespace })} entered={entered} />}
        {view === "Schema" && <SchemaView schema={schema} show={show} />}
      </main>
      <p class="note" role="status" hidden={!note}>{note}</p>
      {login !== null && <Login {...login} close={() => setLogin(null)} entered={entered} />}
    </>
  );
}

/** A text for the editor. */
interface Start extends stored.Saved {
  /** Whether it is run at once. */
  runs?: boolean;
}

interface QueryGiven {
  schema: Schema;
  /** Whether the schema has been read. */
  isRead: boolean;
  /** What stands in the editor at first; a new one replaces what stands there. */
  start: Start | null;
  tell(text: string): void;
  /** Called when the schema may have changed. */
  changed(): void;
}

function QueryView({ schema, isRead, start, tell, changed }: QueryGiven) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(undefined);
  const [language, setLanguage] = useState(start?.language ?? LANGUAGES[0].id);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [failure, setFailure] = useState("");
  const [pane, setPane] = useState("Table");
  const [stop, setStop] = useState<AbortController | null>(null);
  const [lists, setLists] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [isNaming, setNaming] = useState(false);
  const speaks = useRef(language);
  const [parameters, setParameters] = useState(start?.parameters ?? "");
  const now = (): stored.Saved => {
    const { id, hasParameters } = languageOf(speaks.current);
    return { name: "", language: id, text: editor.current?.text ?? "", ...(hasParameters && parameters.trim() ? { parameters } : {}) };
  };
  const acts = useRef({ run: () => {}, save: () => {} });

  const ask = async (text: string) => {
    const spoken = languageOf(speaks.current);
    const query = { ...now(), text };
    const controller = new AbortController();
    setStop(controller);
    setFailure("");
    try {
      const done = await spoken.run(text, controller.signal, parameters);
      setOutcome(done);
      editor.current?.underline(done.faults);
      stored.note(query);
      if (done.body?.data?.code === "Success") {
        changed();
      }
    } catch (error) {
      setFailure((error as Error).message);
    } finally {
      setStop(null);
      setLists((it) => it + 1);
    }
  };
  acts.current.run = () => void ask(editor.current?.text ?? "");
  acts.current.save = () => {
    const { text, parameters: given = "" } = now();
    if (stored.isSecret(text + given)) {
      return tell("not saved: the query names a password, a secret or a token, and what is saved can be read in this browser");
    }
    setNaming(true);
  };
  const saveAs = (name: string) => {
    tell(stored.save({ ...now(), name }) ? `saved as ${name}` : "the browser has no space to save it, or forbids it");
    setLists((it) => it + 1);
  };
  const format = () => {
    if (editor.current && languageOf(speaks.current).formats) {
      editor.current.text = formatted(editor.current.text);
    }
  };
  const open = (query: stored.Saved) => {
    if (editor.current) {
      editor.current.text = query.text;
      setLanguage(query.language);
      setParameters(query.parameters ?? "");
      setOpen(false);
      editor.current.view.focus();
    }
  };
  useEffect(() => {
    const made = new Editor(place.current!, {
      run: () => acts.current.run(),
      save: () => acts.current.save(),
      format,
      changed: () => made.underline([]),
    });
    editor.current = made;
    made.text = start?.text || languageOf(language).example;
    made.view.focus();
    return () => made.view.destroy();
  }, []);
  const shownStart = useRef(start);
  useEffect(() => {
    if (!start || !editor.current || start === shownStart.current) {
      return;
    }
    shownStart.current = start;
    open(start);
    if (start.runs) {
      speaks.current = start.language;
      setPane("Table");
      void ask(start.text);
    }
  }, [start]);
  useEffect(() => {
    speaks.current = language;
    const shown = editor.current;
    const isExample = LANGUAGES.some((it) => it.example === shown?.text);
    shown?.speak(language);
    if (shown && isExample) {
      shown.text = languageOf(language).example;
    }
    stored.setDraft(now());
  }, [language]);
  const spoken = languageOf(language);
  const names = LANGUAGES.map((it) => it.name);
  const choose = (name: string) => setLanguage(LANGUAGES.find((it) => it.name === name)!.id);
  const isEmpty = isRead && schema.predicates.every((it) => it.name === "dgraph.type");
  const goTo = (fault: Fault) => editor.current?.goTo(fault);
  const page = (text: string) => {
    if (editor.current) {
      editor.current.text = text;
      void ask(text);
    }
  };
  return (
    <>
      <Sidebar schema={schema} serial={lists} isOpen={isOpen} close={() => setOpen(false)} open={open} write={(name) => { setOpen(false); editor.current?.write(spoken.named(name)); }} changed={() => setLists(lists + 1)} />
      <div class="work">
        <div class="bar">
          <button type="button" class="menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>☰<span class="hidden">saved queries, history, schema</span></button>
          <Tabs names={names} chosen={spoken.name} choose={choose} label="languages" prefix="language" />
          <span class="space" />
          {spoken.formats && <button type="button" onClick={format} title="Shift-Alt-F">Format</button>}
          <button type="button" onClick={() => acts.current.save()} title="Ctrl-S">Save</button>
          {stop
            ? <button type="button" class="main" onClick={() => stop.abort()}>Stop</button>
            : <button type="button" class="main" onClick={() => acts.current.run()} title="Ctrl-Enter">Run</button>}
        </div>
        <div class="editor" ref={place} id={`language-panel-${spoken.name}`} role="tabpanel" aria-label="editor" />
        {spoken.hasParameters && <Parameters text={parameters} change={setParameters} run={() => acts.current.run()} />}
        {failure && <Faults faults={[{ message: failure, hint: "", line: 0, column: 0, isWarning: false }]} goTo={goTo} />}
        {outcome && <Result {...{ outcome, pane, setPane, goTo, page, tell }} />}
        {!outcome && !failure && <p class="empty">Ctrl-Enter runs the query. The result stands here.</p>}
        {isEmpty && (
          <p class="empty">
            There are no data yet, or none that you may read.{" "}
            <button type="button" onClick={() => open({ name: "", language: "dql", text: FIRST })}>Write an example</button>
          </p>
        )}
        {isNaming && <NameDialog close={() => setNaming(false)} save={saveAs} />}
      </div>
    </>
  );
}

/** The parameters of a query, as an object in JSON. */
function Parameters({ text, change, run }: { text: string; change(text: string): void; run(): void }) {
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  };
  return (
    <label class="parameters">
      Parameters{" "}
      <textarea rows={1} value={text} spellcheck={false} placeholder={'{"year": 1815} is $year in the query'} onInput={(event) => change(event.currentTarget.value)} onKeyDown={key} />
    </label>
  );
}

void openSession().then((failure) => render(<App failure={failure} />, document.getElementById("console")!));
