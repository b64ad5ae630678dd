import type { Html } from '@quittance/shared/html';
import { html } from '@quittance/shared/html';
import { heading, type Mark, note } from '@quittance/shared/page-parts';
import type { PageTexts } from '@quittance/shared/page-texts/en';
import type { PageState } from './domain/page-state.ts';

/** How a state looks before it is read. */
const looks = {
  waiting: { tone: '', icon: 'wallet' },
  short: { tone: 'warn', icon: 'part' },
  over: { tone: 'warn', icon: 'clock' },
  seen: { tone: '', icon: 'eye' },
  confirming: { tone: '', icon: 'blocks' },
  paid: { tone: 'good', icon: 'done' },
  overpaid: { tone: 'good', icon: 'more' },
  reversed: { tone: 'warn', icon: 'back' },
  expired: { tone: 'warn', icon: 'hourglass' },
  cancelled: { tone: 'warn', icon: 'stopped' },
  late: { tone: 'warn', icon: 'warning' },
  underpaid: { tone: 'warn', icon: 'part' },
} as const satisfies Record<PageState, Omit<Mark, 'name'>>;

/** Amounts with their currency, and the network, as they are shown. */
export type ShownAmounts = {
  due: string;
  /** What is still to be paid. */
  rest: string;
  /** What has arrived. */
  come: string;
  reversed: string;
  /** What was paid too much. */
  surplus: string | undefined;
  network: string;
};

/** What a state says: its mark, its headline, its text, and what else the customer must know. */
export function pictureOf(state: PageState, amounts: ShownAmounts, texts: PageTexts): Html {
  const { title, text, more } = words(state, amounts, texts);
  const notes = [...(more ?? []), ...surplusNote(amounts, texts)];
  return html`${heading({ ...looks[state], name: texts.state[state] }, title, text)}
${notes}`;
}

const surplusNote = ({ surplus }: ShownAmounts, { text }: PageTexts): Html[] =>
  surplus === undefined ? [] : [note('warn', text.surplus(surplus))];

function words(
  state: PageState,
  { due, rest, come, reversed, network }: ShownAmounts,
  { pay, headline, text }: PageTexts,
): { title: string; text: string; more?: Html[] } {
  switch (state) {
    case 'waiting':
      return { title: pay.send(due, network), text: pay.exactly };
    case 'short':
      return { title: pay.sendMore(rest, network), text: `${pay.arrivedOf(come, due)} ${pay.exactly}` };
    case 'over':
      return { title: headline.doNotPay, text: text.over };
    case 'seen':
      return { title: come, text: text.seen };
    case 'confirming':
      return { title: come, text: text.confirming };
    case 'paid':
      return { title: headline.thanks, text: text.paid(come) };
    case 'overpaid':
      return { title: headline.overpaid, text: text.paid(come) };
    case 'reversed':
      return { title: headline.reversed(reversed), text: text.reversed };
    case 'expired':
      return { title: headline.doNotPay, text: text.expired, more: [note('', text.notLost)] };
    case 'cancelled':
      return { title: headline.doNotPay, text: text.cancelled, more: [note('', text.notLost)] };
    case 'late':
      return { title: headline.late, text: text.late };
    case 'underpaid':
      return { title: headline.underpaid(come), text: text.underpaid(due) };
  }
}
