import type { Hold, LedgerDeposit, Sent } from './ledger-fixture.ts';

export type Disposition = LedgerDeposit['disposition'];
export const [FEE, SPENT, PART] = [3n, 75n, 40n];

/** A model of the ledger in as few lines as possible. `left` is what is left of the deposit. */
export class DepositHistory {
  available = 50n;
  held = 0n;
  unresolved = 7n;
  writtenOff = 0n;
  fees = 0n;
  left = 0n;
  /** A deposit that is credited at once is accepted from the beginning. */
  state: 'nothing' | 'open' | 'accepted' | 'returning' | 'returned' | 'reversed' = 'nothing';
  hold: Hold | undefined;
  /** The holds of parts. */
  parts: Hold[] = [];
  heardReversal = false;
  ends: Sent[] = [];
  disposition: Disposition;

  constructor(disposition: Disposition) {
    this.disposition = disposition;
  }
  settle() {
    if (this.state !== 'nothing') return;
    this.left = 100n;
    this.unresolved += 100n;
    this.state = 'open';
    if (this.disposition === 'credit') this.accept();
  }
  reverse() {
    if (this.state === 'nothing' || this.state === 'reversed') return;
    if (this.state === 'open') {
      this.unresolved -= this.left;
      this.writtenOff += 100n - this.left;
    } else if (this.state === 'accepted') {
      const back = [this.available, this.left].sort((a, b) => (a < b ? -1 : 1))[0] ?? 0n;
      this.available -= back;
      this.writtenOff += 100n - back;
    } else {
      this.writtenOff += 100n;
    }
    this.state = 'reversed';
  }
  accept() {
    this.state = 'accepted';
    this.unresolved -= this.left;
    this.available += this.left;
  }
  place(hold: Hold) {
    this.state = 'returning';
    this.hold = hold;
    this.unresolved -= this.left;
    this.held += this.left;
  }
  placePart(hold: Hold) {
    this.parts.push(hold);
    this.left -= totalOf(hold);
    this.unresolved -= totalOf(hold);
    this.held += totalOf(hold);
  }
  minePart(hold: Hold) {
    this.held -= totalOf(hold);
    this.fees += FEE;
  }
  freePart(hold: Hold, kept: bigint) {
    const back = totalOf(hold) - kept;
    this.held -= totalOf(hold);
    this.fees += kept;
    if (this.state === 'reversed') {
      this.writtenOff -= back;
      return;
    }
    if (this.state === 'returning' || this.state === 'returned') {
      if (this.hold !== undefined) this.parts.push(this.hold);
      this.hold = undefined;
      this.state = 'open';
      this.left = 0n;
    }
    this.left += back;
    if (this.state === 'accepted') this.available += back;
    else this.unresolved += back;
  }
  mine() {
    this.held -= this.left;
    this.fees += FEE;
    if (this.state === 'returning') this.state = 'returned';
  }
  free(kept: bigint) {
    this.held -= this.left;
    this.fees += kept;
    if (this.state === 'reversed') {
      this.writtenOff -= this.left - kept;
      return;
    }
    this.left -= kept;
    this.unresolved += this.left;
    this.state = 'open';
  }
  spend() {
    this.available -= SPENT;
    this.held += SPENT;
  }
  books() {
    return [this.available, this.held, this.unresolved, -this.writtenOff, this.fees].map(String);
  }
}

const totalOf = (hold: Hold): bigint => BigInt(hold.amount) + BigInt(hold.network_fee);
