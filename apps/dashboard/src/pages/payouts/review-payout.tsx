import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import type { PayoutQuote } from '@quittance/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { useAddressBook, useBalances, usePayoutPolicy } from '../../parts/account-data.ts';
import { compare, grouped, subtract } from '../../parts/decimal.ts';
import { Failure } from '../../parts/failure.tsx';
import { chainOf } from '../../parts/networks.ts';
import { Small } from '../../parts/page.tsx';
import { SendFailure, useSendOnce } from '../../parts/send-once.tsx';
import { Amount, assetName, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { PayoutFacts } from './payout-facts.tsx';
import { type PayoutValues, quoteOf } from './payout-form.tsx';
import { policyNotes } from './policy-notes.ts';

const QUOTE_MS = 60_000;
const TICK_MS = 1_000;

type Order = Parameters<typeof quittance.payouts.create>[0];
type Props = { values: PayoutValues; first: PayoutQuote; onBack(): void };

/** The quote that is shown, and whether it is still that of this moment. A new one is only shown when somebody asks for it. */
function useQuote(values: PayoutValues, first: PayoutQuote, isFrozen: boolean) {
  const [shown, setShown] = useState(first);
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), TICK_MS, { autoInvoke: true });
  const { data, dataUpdatedAt, error, isFetching, refetch } = useQuery({
    queryKey: ['payout-quote', values.asset, values.amount, values.address],
    queryFn: ({ signal }) => quoteOf(values, signal),
    initialData: first,
    staleTime: QUOTE_MS,
    gcTime: 0,
    refetchInterval: isFrozen ? false : QUOTE_MS,
    refetchIntervalInBackground: true,
  });
  const isChanged = data.total !== shown.total || data.amount !== shown.amount;
  return {
    shown,
    latest: data,
    at: dataUpdatedAt,
    error,
    isFetching,
    refetch,
    isChanged,
    // A second more than until the next one is asked for.
    isOld: now - dataUpdatedAt > QUOTE_MS + TICK_MS,
    showLatest: () => setShown(data),
  };
}

/** All of a payout before it is sent. What the button says is what is sent, also of a payout of all that there is. */
export function ReviewPayout({ values, first, onBack }: Props) {
  const navigate = useNavigate();
  const { data: balances } = useBalances();
  const { send, isPending, error, isUnknown } = useSendOnce(
    (order: Order, idempotencyKey) => quittance.payouts.create(order, { idempotencyKey, maxRetries: 0 }),
    async ({ id }) => {
      void readAgain('payouts', 'balances', 'balance-transactions');
      await navigate({ to: `/payouts/${id}`, replace: true });
    },
  );
  const quote = useQuote(values, first, isPending || isUnknown);
  const { shown } = quote;
  const { symbol } = shown.asset;
  const balance = balances?.find((one) => one.asset.symbol === symbol)?.balance;
  const after = balance === undefined ? undefined : subtract(balance, shown.total);
  const isShort = after !== undefined && compare(after, '0') < 0 && !isUnknown && !isPending;
  const address = shown.to_address ?? values.address;
  return (
    <Paper withBorder p="md" maw={640}>
      <Stack>
        <PayoutFacts
          payout={{ ...shown, to_address: address }}
          more={{
            'Balance now': !isUnknown && balance && <Amount value={balance} asset={symbol} />,
            'Balance after': !isUnknown && after && (
              <Amount value={after} asset={symbol} {...(isShort && { c: 'red' })} />
            ),
            'Your reference': values.external_id,
          }}
        />
        {!isUnknown && (
          <Notes
            quote={quote}
            isShort={isShort}
            isMax={values.amount === 'max'}
            isPending={isPending}
            address={address}
          />
        )}
        <SendFailure
          error={error}
          isUnknown={isUnknown}
          what="the payout was created"
          list={{ to: '/payouts', label: 'The list of payouts' }}
        />
        <Group justify="space-between">
          <Button variant="default" onClick={onBack} disabled={isPending || isUnknown}>
            Change
          </Button>
          <Button
            loading={isPending}
            disabled={!isUnknown && (quote.isOld || quote.isChanged || isShort)}
            onClick={() =>
              send({
                asset: symbol as Order['asset'],
                amount: shown.amount,
                address,
                ...(values.external_id !== '' && { external_id: values.external_id }),
              })
            }
          >
            Send {grouped(shown.amount)} {assetName(symbol)}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

type NotesProps = {
  quote: ReturnType<typeof useQuote>;
  isShort: boolean;
  isMax: boolean;
  isPending: boolean;
  address: string;
};

/** What somebody should know before the button is pressed. */
function Notes({ quote, isShort, isMax, isPending, address }: NotesProps) {
  const { data: policy } = usePayoutPolicy();
  const { data: book } = useAddressBook();
  const { shown, latest, isOld, isChanged, isFetching, error } = quote;
  const { symbol } = shown.asset;
  const order = { asset: symbol, amount: shown.amount, address };
  const notes = policy === undefined ? [] : policyNotes(policy, book, order, chainOf(symbol), Date.now());
  return (
    <>
      {isChanged && !isPending && (
        <Alert color="yellow" title="The quote has changed" role="alert">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">
              The network fee is now <Amount value={latest.network_fee} asset={symbol} />, so the total of{' '}
              <Amount value={latest.amount} asset={symbol} /> is{' '}
              <Amount value={latest.total} asset={symbol} />.
            </Text>
            <Button size="xs" variant="light" onClick={quote.showLatest}>
              Show it with the new quote
            </Button>
          </Stack>
        </Alert>
      )}
      <Failure error={error} onRetry={quote.refetch} />
      {isOld && error === null && !isPending && (
        <Alert color="yellow" title="The quote is older than a minute" role="alert">
          {isFetching ? 'A new one is being asked for.' : 'A new one is asked for in a moment.'}
        </Alert>
      )}
      {isShort && (
        <Alert color="red" title="The balance does not cover it">
          Amount and network fee are more than the balance has.
        </Alert>
      )}
      {compare(shown.promised_amount, '0') > 0 && (
        <Alert color="yellow" title="The balance is promised">
          Open claim links of refunds promise <Amount value={shown.promised_amount} asset={symbol} />. A
          payout does not leave it in the balance.
        </Alert>
      )}
      {notes.map(({ kind, text }) =>
        kind === 'limited' ? (
          <Text key={text} size="sm">
            {text}
          </Text>
        ) : (
          <Alert key={text} color={kind === 'refused' ? 'red' : 'yellow'} title="Payout policy">
            {text}
          </Alert>
        ),
      )}
      <Small>
        Quote of <Time at={new Date(quote.at).toISOString()} />. The network fee of a payout is that of the
        moment in which it is created.
        {isMax && ' What comes into the balance before you send it stays there.'}
      </Small>
    </>
  );
}
