import { type Html, html } from '@quittance/shared/html';
import { encode } from 'uqr';

/**
 * A QR code: sharp at every size, and nothing to load. It is in the page once, and shown in two places: as it is on a wide
 * screen, and closed on a narrow one.
 */
export function qrCode(text: string, label: string): { wide: Html; narrow: Html } {
  const { data, size: side } = encode(text, { ecc: 'M', border: 3 });
  const svg = (content: Html) =>
    html`<svg class="code" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" width="240" height="240" shape-rendering="crispEdges" role="img" aria-label="${label}">${content}</svg>`;
  return {
    wide: svg(
      html`<g id="qr"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path fill="none" stroke="#000" d="${pathOf(data)}"/></g>`,
    ),
    narrow: svg(html`<use href="#qr"/>`),
  };
}

/** A line for each run of dark modules. */
function pathOf(data: readonly (readonly boolean[])[]): string {
  return data
    .map((row, y) => {
      let line = '';
      for (let x = 0; x < row.length; x++) {
        const from = x;
        while (row[x] === true) x++;
        if (x > from) line += `M${from} ${y}.5h${x - from}`;
      }
      return line;
    })
    .join('');
}
