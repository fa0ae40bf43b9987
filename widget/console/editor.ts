// The editor: CodeMirror with the extension of a language, and faults underlined where they are.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, type Text } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Fault } from "./api";
import { languageOf } from "./languages";

/** The colours are variables of the page, which the theme sets. */
const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.string, tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--code-number)" },
  { tag: [tags.keyword, tags.definitionKeyword], color: "var(--code-keyword)" },
  { tag: [tags.function(tags.variableName), tags.standard(tags.name)], color: "var(--code-function)" },
  { tag: [tags.meta, tags.modifier], color: "var(--code-directive)" },
  { tag: [tags.special(tags.variableName), tags.variableName], color: "var(--code-variable)" },
  { tag: [tags.labelName, tags.attributeName], color: "var(--code-label)" },
  { tag: tags.propertyName, color: "var(--code-name)" },
]);

export interface Commands {
  run(): void;
  save(): void;
  format(): void;
  changed(text: string): void;
}

export class Editor {
  readonly view: EditorView;
  private readonly language = new Compartment();
  private id = "";

  constructor(parent: HTMLElement, commands: Commands) {
    const bind = (key: string, act: () => void) => ({ key, preventDefault: true, run: () => (act(), true) });
    const ours = Prec.highest(
      keymap.of([
        bind("Mod-Enter", commands.run),
        bind("Mod-s", commands.save),
        bind("Shift-Alt-f", commands.format),
      ]),
    );
    const state = EditorState.create({
      extensions: [
        ours,
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ maxRenderedOptions: 60 }),
        highlightActiveLine(),
        highlightSelectionMatches(),
        lintGutter(),
        indentUnit.of("  "),
        syntaxHighlighting(colours),
        // Tab stays the key that leaves the editor, as whoever has no mouse needs.
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
        placeholder("Write a query; Ctrl-Enter runs it, Ctrl-Space proposes names"),
        // The Tab key goes to the text also without `tabindex`; tools that check pages go by it.
        EditorView.contentAttributes.of({ "aria-label": "query", spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) {
            commands.changed(update.state.doc.toString());
          }
        }),
        this.language.of([]),
      ],
    });
    this.view = new EditorView({ state, parent });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    const whole = { from: 0, to: this.view.state.doc.length, insert: text };
    this.view.dispatch({ changes: whole, selection: { anchor: Math.min(text.length, this.view.state.selection.main.head) } });
  }

  /** Writes a text where the cursor is. */
  write(text: string): void {
    this.view.dispatch(this.view.state.replaceSelection(text));
    this.view.focus();
  }

  speak(id: string): void {
    if (id !== this.id) {
      this.id = id;
      this.view.dispatch({ effects: this.language.reconfigure(languageOf(id).extension) });
      void languageOf(id).learn?.(this.view).catch(() => {});
    }
  }

  /** Underlines faults at their places; those without a place are shown elsewhere. */
  underline(faults: Fault[]): void {
    const placed = faults.filter((fault) => fault.line > 0);
    this.view.dispatch(setDiagnostics(this.view.state, placed.map((fault) => diagnostic(this.view.state.doc, fault))));
  }

  goTo(fault: Fault): void {
    this.view.dispatch({ selection: { anchor: offset(this.view.state.doc, fault) }, scrollIntoView: true });
    this.view.focus();
  }
}

/** Where a fault begins. Columns count code points from 1, offsets count units of UTF-16. */
function offset(text: Text, fault: Fault): number {
  const line = text.line(Math.min(fault.line, text.lines));
  const before = [...line.text].slice(0, Math.max(0, fault.column - 1)).join("");
  return Math.min(line.from + before.length, line.to);
}

function diagnostic(text: Text, fault: Fault): Diagnostic {
  const at = offset(text, fault);
  const rest = text.sliceString(at, Math.min(text.length, at + 200));
  const word = /^("(?:\\.|[^"\\\n])*"?|[~@$]?[\p{L}\d_.]+|\S)/u.exec(rest)?.[0] ?? "";
  // At the end of the text the last letter is underlined.
  const from = word ? at : Math.max(0, at - 1);
  const message = fault.hint ? `${fault.message}\n${fault.hint}` : fault.message;
  return { from, to: Math.min(text.length, from + (word.length || 1)), severity: fault.isWarning ? "warning" : "error", message };
}
