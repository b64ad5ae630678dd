import { Alert, Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Payout } from '@quittance/client';
import type { MouseEvent } from 'react';
import { quittance } from '../../client.ts';
import { useActorName } from '../../parts/account-data.ts';
import { ConfirmDialog } from '../../parts/dialogs.tsx';
import { Time } from '../../parts/values.tsx';
import { queries, readAgain } from '../../queries.ts';
import { useMay, useSession } from '../../session/session.ts';
import { approvalProgress, approverState } from './approval.ts';
import { PayoutFacts } from './payout-facts.tsx';

export type Decision = 'approve' | 'reject' | 'cancel';
export type Decided = { payout: Payout; decision: Decision };

const texts = {
  approve: {
    title: 'Approve this payout?',
    text: () => 'With the last approval it is sent, and cannot be taken back.',
    button: 'Approve',
    done: 'The payout is approved.',
    color: undefined,
  },
  reject: {
    title: 'Reject this payout?',
    text: (back: string) => `One rejection is enough: nothing is paid, and ${back}.`,
    button: 'Reject',
    done: 'The payout is rejected.',
    color: 'red',
  },
  cancel: {
    title: 'Cancel this payout?',
    text: (back: string) =>
      `It is cancelled if it is not signed yet: then ${back}. Otherwise it is sent all the same.`,
    button: 'Cancel the payout',
    done: 'The payout is being cancelled.',
    color: 'red',
  },
} as const;

/** What becomes of the money of a payout that is not sent. */
const whatReturns = ({ deposit_id: deposit }: Payout): string =>
  deposit === null ? 'amount and fee return to the balance' : 'the funds are unresolved again';

/** Asks once more, with all that the decision is about. */
export const DecideDialog = ({ decided, onClose }: { decided: Decided | undefined; onClose(): void }) =>
  decided && <OpenDialog {...decided} onClose={onClose} />;

function OpenDialog({ payout, decision, onClose }: Decided & { onClose(): void }) {
  const actorName = useActorName();
  const { title, text, button, done, color } = texts[decision];
  const decide = async () => {
    try {
      const now = await quittance.payouts[decision](payout.id);
      queries.setQueryData(['payouts', 'one', String(payout.id)], now);
      notifications.show({ message: done });
    } finally {
      // Somebody else may have decided.
      void readAgain('payouts', 'balances');
    }
  };
  const maker = payout.approval?.requested_by;
  return (
    <ConfirmDialog title={title} button={button} color={color} size="lg" act={decide} onClose={onClose}>
      <PayoutFacts
        payout={payout}
        more={{
          'Your reference': payout.external_id,
          Requested: <Time at={payout.created_at} />,
          'Requested by': maker && actorName(maker),
          Approvals: payout.approval && approvalProgress(payout),
        }}
      />
      <Text size="sm" mt="md">
        {text(whatReturns(payout))}
      </Text>
    </ConfirmDialog>
  );
}

type Buttons = { payout: Payout; onDecide(decided: Decided): void; size?: string };

/** For those who may decide. */
export function DecideButtons({ payout, onDecide, size = 'sm' }: Buttons) {
  const state = approverState(payout, useSession().id, useMay('payouts:approve'));
  if (state !== 'may') return null;
  const press = (decision: Decision) => (event: MouseEvent) => {
    // A row of a list is a link itself.
    event.stopPropagation();
    onDecide({ payout, decision });
  };
  return (
    <Group gap="xs" wrap="nowrap">
      <Button size={size} onClick={press('approve')}>
        Approve
      </Button>
      <Button size={size} variant="default" onClick={press('reject')}>
        Reject
      </Button>
    </Group>
  );
}

/** Why a payout waits, who may approve it, and why the reader cannot. */
export function ApprovalNote({ payout }: { payout: Payout }) {
  const actorName = useActorName();
  const state = approverState(payout, useSession().id, useMay('payouts:approve'));
  const { approval } = payout;
  if (approval?.status !== 'waiting') return null;
  const maker = approval.requested_by;
  const own = {
    may: 'You may approve it.',
    own: 'You have requested it, so somebody else must approve it. You can cancel it.',
    has_decided: 'You have approved it: it needs another one.',
    role: 'Your role does not approve payouts.',
    not_waiting: '',
  }[state];
  return (
    <Alert color="yellow" title={`It waits for approval: ${approvalProgress(payout)} given`}>
      <Text size="sm">
        The payout policy asks for {approval.needed === 1 ? 'an approval' : `${approval.needed} approvals`}.
        Owners and admins of the account may give {approval.needed === 1 ? 'it' : 'them'}, and API tokens with
        the scope payouts:approve: all but who has requested it
        {maker && `, which is ${actorName(maker)}`}. {own}
      </Text>
      <Text size="sm" mt={4}>
        Without it nothing is paid, and it fails on <Time at={approval.expires_at} />.
      </Text>
    </Alert>
  );
}
