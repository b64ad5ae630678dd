import type { Mutant } from '../mutant.ts';
import { rewrite } from './statements.ts';

/** How funds that came too late are accepted and returned, and what rules pay out. */
export const lateFundsMutants: readonly Mutant[] = [
  {
    name: 'accepted-what-is-returned',
    what: 'funds are accepted whose return is on its way, out of other funds that wait for a decision',
    shows: /^\d+ of unresolved dep_\w+ were accepted or paid back, and \d+ came/,
    apply: (wiring) =>
      rewrite(wiring, 'ledger.unresolved_accept', [`state = 'open'`, `state in ('open', 'returning')`]),
  },
  {
    name: 'part-left-in-the-deposit',
    what: 'a return of a part does not reduce what can be accepted of the rest',
    shows: /^I3: .* unresolved, its open deposits sum to/,
    apply: (wiring) =>
      rewrite(wiring, 'ledger.returns_decide', [
        'p.left_of_it - case when p.is_all then 0 else p.total end',
        'p.left_of_it - case when p.is_all then 0 else p.network_fee end',
      ]),
  },
  {
    name: 'failed-return-is-accepted',
    what: 'what a return that has failed gives back goes to the balance, whatever became of the rest',
    shows: /^I3: .* unresolved, its open deposits sum to/,
    apply: (wiring) =>
      rewrite(wiring, 'ledger.holds_lock', [
        `h.deposit_id is null or u.state = 'accepted'`,
        `h.deposit_id is null or u.state <> 'reversed'`,
      ]),
  },
  {
    name: 'replaced-rule-is-paid',
    what: 'a run of automatic payouts does not look whether its rule is still what it has read',
    shows: /^an automatic payout goes to \S+ after its merchant has changed the rule/,
    apply: (wiring) =>
      rewrite(wiring, 'payouts.automatic_payouts_lock_claimed', [
        'next_run_at = $3 and address = $4 and enabled',
        '($3::timestamptz is not null or $4::text is not null)',
      ]),
  },
  {
    name: 'cancelled-rule-pays-again',
    what: 'a rule whose payout was cancelled is not disabled, and pays the same money once more',
    shows: /^an automatic payout goes to \S+ after its merchant has cancelled one/,
    apply: (wiring) =>
      rewrite(wiring, 'payouts.automatic_payouts_follow', ['enabled = $3', 'enabled = (enabled or $3)']),
  },
];
