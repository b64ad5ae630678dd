import type { Payout } from '@quittance/client';

/** Why somebody may not decide about a payout; `may` when they may. */
export type Approver = 'may' | 'not_waiting' | 'own' | 'has_decided' | 'role';

type Waiting = Pick<Payout, 'approval'>;

/**
 * @param person who looks
 * @param mayApprove whether the role allows it
 */
export function approverState({ approval }: Waiting, person: string, mayApprove: boolean): Approver {
  if (approval?.status !== 'waiting') return 'not_waiting';
  if (!mayApprove) return 'role';
  if (approval.requested_by === person) return 'own';
  return approval.given.some(({ person_id: id }) => id === person) ? 'has_decided' : 'may';
}

/** `1 of 2`: how many have approved it. */
export function approvalProgress({ approval }: Waiting): string {
  if (approval === null) return '';
  const given = approval.given.filter(({ decision }) => decision === 'approved').length;
  return `${given} of ${approval.needed}`;
}

/** The state of a payout in words: what waits for somebody is not on its way. */
export const stateOf = ({
  status,
  approval,
  cancel_requested_at: isCancelled,
}: Pick<Payout, 'status' | 'approval' | 'cancel_requested_at'>): { state: string; label: string } => {
  if (status !== 'pending') return { state: status, label: status };
  if (approval?.status === 'rejected') return { state: 'rejected', label: 'rejected' };
  if (isCancelled !== null) return { state: 'pending', label: 'being cancelled' };
  if (approval?.status === 'waiting') return { state: 'waiting', label: 'waits for approval' };
  return { state: 'pending', label: 'pending' };
};
