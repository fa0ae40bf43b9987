// A text in which names and commands stand between backticks.

export function Words({ text }: { text: string }) {
  return <>{text.split("`").map((it, at) => (at % 2 ? <code key={at}>{it}</code> : it))}</>;
}
