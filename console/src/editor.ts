import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, LRLanguage, syntaxHighlighting } from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { HybridComplete } from "@prometheus-io/codemirror-promql/dist/esm/complete/hybrid";
import { HybridLint } from "@prometheus-io/codemirror-promql/dist/esm/lint/hybrid";
import { parser } from "@prometheus-io/lezer-promql";
import { read } from "./api";
import { quote, selector } from "./paths";

// The editor of PromQL: Prometheus' own grammar, completion and checks, on CodeMirror. It comes as a file that is
// loaded when it is used.

const most = 200; // names or values that are offered

const values = async (label: string, match: string[]) =>
  (
    await read<{ data: string[] }>(
      `/api/v1/label/${encodeURIComponent(label)}/values?` +
        new URLSearchParams([["limit", String(most)], ...match.map((m) => ["match[]", m])]),
    )
  ).data;
const named = (name?: string) => (name ? [`{${quote(name)}}`] : []);
const plain = (name: string) => /^[A-Za-z_:][\w:]*$/.test(name);
const metricNames = (part = "") => values("__name__", part ? [selector(part, [])] : []);

// What is asked of the server. Names of metrics hold what is typed; none is offered of a metric that the user may not
// see.
const client = {
  metricNames,
  labelNames: async (name?: string) =>
    (
      await read<{ data: string[] }>("/api/v1/labels?" + new URLSearchParams(named(name).map((m) => ["match[]", m])))
    ).data.filter((l) => l !== "__name__"),
  labelValues: (label: string, name?: string) => values(label, named(name)),
  metricMetadata: async () => ({}),
  series: async () => [],
  flags: async () => ({}),
};

const hybrid = new HybridComplete(client);

// complete offers what Prometheus' editor does. Names that stand in no selector without quotes, as those with a dot,
// get them.
async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const quoted = context.matchBefore(/\{\s*"[^"{}]*$/);
  if (quoted) {
    const from = quoted.from + quoted.text.indexOf('"') + 1;
    return {
      from,
      options: (await metricNames(quoted.text.slice(from - quoted.from))).map((label) => ({
        label,
        type: "constant",
        apply: quote(label).slice(1, -1),
      })),
      filter: false,
    };
  }
  const dotted = context.matchBefore(/[\w:]+[.-][\w:.-]*$/);
  if (dotted) return { from: dotted.from, options: (await metricNames(dotted.text)).map(asMetric), filter: false };
  const result = (await hybrid.promQL(context)) as CompletionResult | null;
  return (
    result && {
      ...result,
      options: result.options.map((o) => (o.type === "constant" && !plain(o.label) ? asMetric(o) : o)),
    }
  );
}

const asMetric = (o: Completion | string): Completion => {
  const label = typeof o === "string" ? o : o.label;
  return { label, type: "constant", apply: plain(label) ? label : `{${quote(label)}}` };
};

// insert takes what is typed before the browser does: that would keep colours as a style attribute, which the page's
// Content-Security-Policy refuses, loudly.
function insert(event: InputEvent, view: EditorView): boolean {
  if (event.inputType !== "insertText" || !event.data || view.composing) return false;
  event.preventDefault();
  const { from, to } = view.state.selection.main,
    text = event.data;
  const typed = () =>
    view.state.update({ ...view.state.replaceSelection(text), userEvent: "input.type", scrollIntoView: true });
  if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, typed)))
    view.dispatch(typed());
  return true;
}

const look = EditorView.theme({
  "&": {
    fontSize: ".9rem",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    background: "var(--panel)",
    color: "var(--text)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace", lineHeight: "1.5" },
  ".cm-content": { padding: ".45rem .35rem", caretColor: "var(--text)" },
  ".cm-placeholder": { color: "var(--faint)" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".cm-tooltip": {
    background: "var(--panel)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    boxShadow: "0 8px 24px rgb(0 0 0 / 16%)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "inherit", fontSize: ".87rem", maxHeight: "15rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: ".15rem .55rem" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent-soft)", color: "var(--text)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600", color: "var(--accent)" },
  ".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal" },
  ".cm-completionInfo": { maxWidth: "22rem", color: "var(--soft)" },
  // The library's own underline is an image by data:, which the page's Content-Security-Policy refuses.
  ".cm-lintRange-error, .cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "3px",
  },
  ".cm-diagnostic": { fontFamily: "system-ui, sans-serif", borderLeftColor: "var(--bad)" },
});

const colors = HighlightStyle.define([
  { tag: tags.function(tags.variableName), color: "var(--line-2)" },
  { tag: tags.keyword, color: "var(--line-4)" },
  { tag: tags.modifier, color: "var(--line-4)" },
  { tag: tags.string, color: "color-mix(in srgb, var(--line-3) 75%, var(--text))" },
  { tag: tags.number, color: "color-mix(in srgb, var(--line-7) 75%, var(--text))" },
  { tag: tags.labelName, color: "var(--line-1)" },
  { tag: tags.comment, color: "var(--faint)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

export interface Editor {
  text(): string;
  set(text: string): void;
  focus(): void;
  destroy(): void;
}

// mountEditor puts an editor into an element. It lives in a shadow root: there its style sheets are objects, which the
// page's Content-Security-Policy lets pass.
export function mountEditor(
  parent: HTMLElement,
  text: string,
  example: string,
  change: (text: string) => void,
  run: () => void,
): Editor {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      selection: { anchor: text.length },
      extensions: [
        Prec.highest(
          keymap.of([
            { key: "Enter", run: (v) => acceptCompletion(v) || (run(), true) },
            { key: "Tab", run: acceptCompletion },
          ]),
        ),
        keymap.of([
          {
            key: "Shift-Enter",
            run: (v) => {
              v.dispatch(v.state.replaceSelection("\n"));
              return true;
            },
          },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        history(),
        bracketMatching(),
        closeBrackets(),
        EditorView.lineWrapping,
        look,
        syntaxHighlighting(colors),
        placeholder(example),
        LRLanguage.define({
          parser: parser.configure({ top: "PromQL" }),
          languageData: { closeBrackets: { brackets: ["(", "[", "{", "'", '"', "`"] }, commentTokens: { line: "#" } },
        }),
        autocompletion({ override: [complete], icons: false }),
        linter((v) => new HybridLint().promQL().call(null, v)),
        EditorView.domEventHandlers({ beforeinput: insert }),
        EditorView.contentAttributes.of({ "aria-label": "Expression" }),
        EditorView.updateListener.of((u) => {
          if (u.docChanged) change(u.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    set: (text) => {
      if (text !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
