// Copies a text. Browsers have their clipboard for pages of this machine and of https only; elsewhere a selection is copied.

/** Whether it was copied: a browser may forbid it. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}

/** Says what became of it. */
export const copyNote = (isCopied: boolean, words: string) => (isCopied ? words : "the browser forbids copying: select the text, and press Ctrl-C");
