/** Text that is HTML already; everything else is escaped where it is put in. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => escapes[char] ?? char);

type Part = string | number | Html | readonly Html[] | undefined;

/** Puts parts into a template: texts escaped, HTML as it is, undefined as nothing. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const rendered = parts.map((part) => {
    if (part === undefined) return '';
    if (part instanceof Html) return part.text;
    if (typeof part === 'object') return part.map((one) => one.text).join('');
    return escaped(String(part));
  });
  return new Html(template.reduce((text, piece, i) => text + (rendered[i - 1] ?? '') + piece));
}
