import { describe, expect, it } from '@jest/globals';
import { NOT_RUN, resultOf } from './mutant-result.ts';
import { mutants } from './mutants/mutants.ts';

describe('the result of a scenario with a mutant', () => {
  const paidTwice = { shows: /^paid 2 times/ };

  it('finds the mutant by the violation that it names, also when there are others', () => {
    expect(resultOf(['I6: the reserves differ', 'paid 2 times: 0xa (accepted)'], paidTwice)).toEqual({
      state: 'found',
      violation: 'paid 2 times: 0xa (accepted)',
    });
  });

  it('does not find the mutant when there is no violation, or only others', () => {
    expect(resultOf([], paidTwice).state).toBe('not_found');
    const others = ['does not end: a payout is signed', 'I6: the reserves differ'];
    expect(resultOf(others, paidTwice).state).toBe('not_found');
  });

  it('counts a scenario that could not be run as not run, whatever else it says', () => {
    const unparsed = `${NOT_RUN}: error: syntax error at or near "form" in: select 1 form payouts`;
    const notRun = { state: 'not_run', violation: unparsed };
    expect(resultOf(['paid 2 times: 0xa (accepted)', unparsed], paidTwice)).toEqual(notRun);
    expect(resultOf([unparsed], { shows: /payouts/ })).toEqual(notRun);
  });

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    'does not find %s by a scenario in which nobody can go on',
    (_name, mutant) => {
      expect(resultOf(['does not end: nobody can go on', ''], mutant).state).toBe('not_found');
    },
  );
});
