import { describe, expect, test } from '@jest/globals';
import { readRequestBody } from '../src/exact-json.ts';
import { form } from '../src/form.ts';
import { rules } from '../src/validation.ts';
import { amountForms, doubledAmounts } from './amount-forms.ts';

/** How the bodies of requests are read wherever an amount stands in one. */

const read = form({ amount: rules.number().required });

/** The amount that a body means; null when it is refused. */
function meaningOf(body: string): string | null {
  const found = read(readRequestBody(Buffer.from(body)));
  return found.ok ? found.value.amount : null;
}

describe('an amount', () => {
  test.each(
    amountForms.map(
      ({ written, means }) =>
        [written.slice(0, 60), means?.slice(0, 40) ?? 'refused', written, means] as const,
    ),
  )('that is written %s is: %s', (_shown, _meaning, written, means) => {
    expect(meaningOf(`{"amount":${written}}`)).toBe(means);
    // The same in the middle of a body, with white space around it.
    expect(meaningOf(`{ "amount" :\t${written}\n}`)).toBe(means);
  });

  test('is refused where it is read as none or more than one', () => {
    expect(doubledAmounts.filter((body) => meaningOf(body) !== null)).toEqual([]);
  });

  test('means the same when its plain text is read again', () => {
    const meanings = amountForms.flatMap(({ means }) => means ?? []);
    expect(meanings.map((means) => meaningOf(`{"amount":"${means}"}`))).toEqual(meanings);
  });
});
