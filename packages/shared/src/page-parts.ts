import { type Html, html } from './html.ts';
import { type Language, timeTextOf } from './page-language.ts';

/** The name of a state, as a mark above the headline, with its icon. */
export type Mark = { tone: '' | 'good' | 'warn'; icon: Icon; name: string };

/** The strokes of the icons, on a square of 24. */
const icons = {
  wallet: 'M3 7h15a3 3 0 0 1 3 3v7a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3zm0 0 12-3v3M16.5 13.5h.01',
  clock: 'M12 3a9 9 0 1 0 .01 0M12 7v5l3 2',
  hourglass: 'M6 3h12M6 21h12M7.5 3v3l4.5 6-4.5 6v3M16.5 3v3L12 12l4.5 6v3',
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12M12 9a3 3 0 1 0 .01 0',
  blocks: 'M12 3a9 9 0 1 1-9 9',
  done: 'M4.5 12.5 10 18 20 6.5',
  more: 'M12 5v14M5 12h14',
  part: 'M12 3a9 9 0 1 0 .01 0zv9h9',
  warning: 'M12 3 22 20H2zM12 10v4M12 17h.01',
  stopped: 'M6 6l12 12M18 6 6 18',
  back: 'M9 7 4 12l5 5M4 12h11a5 5 0 0 1 0 10h-2',
} as const;
export type Icon = keyof typeof icons;

/** It says nothing that the words do not say: a screen reader leaves it out. */
const iconOf = (icon: Icon): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${icons[icon]}"/></svg>`;

/** What every page begins with: the state where it has one, a headline and a text. */
export const heading = (mark: Mark | undefined, title: string, text?: string): Html =>
  html`${
    mark &&
    html`<p class="${['state', mark.tone, mark.icon === 'blocks' ? 'turn' : ''].filter(Boolean).join(' ')}" role="status">${iconOf(mark.icon)}<span>${mark.name}</span></p>
`
  }<h1>${title}</h1>
${text === undefined ? undefined : html`<p class="soft">${text}</p>`}`;

/** A text that stands out from the others. */
export const note = (tone: '' | 'warn', text: string, title?: string): Html =>
  html`<p class="${tone === '' ? 'note' : `note ${tone}`}">${title === undefined ? undefined : html`<strong>${title}</strong> `}${text}</p>
`;

/** A label and its value; nothing without a value. */
export const fact = (label: string, value: Html | string | null | undefined): Html | undefined =>
  value === null || value === undefined ? undefined : html`<dt>${label}</dt><dd>${value}</dd>\n`;

/** A label and a text that is copied exactly. */
export const copied = (label: string, text: string): Html =>
  html`<dt>${label}</dt><dd class="copy">${text}</dd>\n`;

/**
 * A link to another page, which does not learn where it was followed. A page of somebody else is never shown in the frame in
 * which a shop shows ours.
 */
export const linkTo = (url: string, text: string, look: 'button' | 'button quiet' | 'explorer'): Html =>
  html`<a class="${look}" href="${url}" rel="noreferrer"${/^https?:/.test(url) ? html` target="_top"` : undefined}>${text}</a>`;

/** A time to the minute. */
export const timeText = (language: Language, at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${timeTextOf(language, at)}</time>`;
