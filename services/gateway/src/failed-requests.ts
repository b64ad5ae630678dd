import type { AccountId, ActorId } from '@quittance/shared/ids';

/** A request of an account that was answered with an error. It has neither the query nor the body: they may contain secrets. */
export type FailedRequest = {
  id: string;
  account: AccountId;
  at: Date;
  method: string;
  path: string;
  status: number;
  code: string | null;
  actor: ActorId;
  address: string | null;
};

/** Of one account between two writes: whoever sends wrong requests in a loop keeps no others out. */
const PER_ACCOUNT_MAX = 100;
/** Of all accounts. */
const MAX = 5_000;

export type FailedRequests = ReturnType<typeof createFailedRequests>;

/** Requests that failed, kept until they are written. What is too many is forgotten, the oldest of its account first. */
export function createFailedRequests() {
  let waiting = new Map<AccountId, FailedRequest[]>();
  let count = 0;
  return {
    note(request: FailedRequest): void {
      const ofAccount = waiting.get(request.account) ?? [];
      if (ofAccount.length >= PER_ACCOUNT_MAX) ofAccount.shift();
      else if (count >= MAX) return;
      else count += 1;
      ofAccount.push(request);
      waiting.set(request.account, ofAccount);
    },
    /** What has not been written yet; from now on it is the caller's. */
    take(): FailedRequest[] {
      const taken = [...waiting.values()].flat();
      waiting = new Map();
      count = 0;
      return taken;
    },
  };
}
