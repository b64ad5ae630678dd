import { Alert, Radio, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReturnedUnresolved, ReturnUnresolved, UnresolvedFunds } from '@quittance/client';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { networkName } from '../../parts/networks.ts';
import { Facts } from '../../parts/page.tsx';
import { type PaidBack, TwoStepButton } from '../../parts/two-steps.tsx';
import { Address, Amount, assetName } from '../../parts/values.tsx';
import { WhereToFields } from '../../parts/where-to-fields.tsx';
import { firstReturn, type ReturnChoice, receivedOf, returnOf, returnProblems } from './return-form.ts';

/** Returns unresolved funds: how much and where to, then the exact amounts, then the claim link where there is one. */
export const ReturnButton = ({ funds }: { funds: UnresolvedFunds }) => (
  <TwoStepButton
    label="Return"
    title="Return to your customer"
    doneTitle="The return was created"
    what="the return was created"
    list={{ to: '/payouts', label: 'The list of payouts' }}
    isOffered={funds.status === 'open'}
    first={firstReturn}
    validate={(choice) => returnProblems(choice, funds.amount)}
    requestOf={returnOf}
    send={(how, idempotencyKey) =>
      quittance.unresolved.return(funds.id, how, { idempotencyKey, maxRetries: 0 })
    }
    changes={['unresolved', 'payouts', 'refunds', 'invoices']}
    fields={(form) => <Fields form={form} funds={funds} />}
    confirmation={(how) => ({
      shown: <Confirmation funds={funds} how={how} />,
      button: how.claim === true ? 'Create the claim link' : 'Send it back',
    })}
    paidBack={paidBack}
  />
);

const paidBack = (returned: ReturnedUnresolved): PaidBack => ({
  link: 'claim_url' in returned ? returned.claim_url : undefined,
  sent: 'A payout is sending it. It is in the list of payouts.',
  lost: 'The claim link cannot be shown. Cancel its refund and create another one.',
  secret: 'The link is shown this once. Whoever has it can claim the funds: send it to your customer alone.',
});

function Fields({ form, funds }: { form: UseFormReturnType<ReturnChoice>; funds: UnresolvedFunds }) {
  const { symbol } = funds.asset;
  const all = (
    <>
      All that is left: <Amount value={funds.amount} asset={symbol} />
    </>
  );
  return (
    <>
      <Radio.Group label="How much" {...form.getInputProps('kind')}>
        <Stack gap="xs" mt="xs">
          <Radio value="all" label={all} />
          <Radio value="other" label="A part of it" />
        </Stack>
      </Radio.Group>
      {form.values.kind === 'other' && (
        <TextInput
          label={`Amount in ${assetName(symbol)}`}
          description="The rest stays open: return or accept it later."
          inputMode="decimal"
          {...form.getInputProps('amount')}
        />
      )}
      <WhereToFields form={form} asset={symbol} />
      <TextInput label="Your reference (optional)" maxLength={255} {...form.getInputProps('external_id')} />
    </>
  );
}

function Confirmation({ funds, how }: { funds: UnresolvedFunds; how: ReturnUnresolved }) {
  const { symbol } = funds.asset;
  const fee = useAssets().data?.find((asset) => asset.symbol === symbol)?.network_fee;
  const taken = how.amount === undefined ? funds.amount : String(how.amount);
  const received = fee && receivedOf(taken, fee);
  const { address } = how;
  const about = (value: string) => (
    <>
      about <Amount value={value} asset={symbol} />
    </>
  );
  return (
    <Stack>
      <Facts
        facts={{
          'It takes of the funds': <Amount value={taken} asset={symbol} />,
          'Network fee': fee ? about(fee) : 'not known now',
          'Your customer gets': received && about(received),
          To: address ? <Address address={address} /> : 'an address that your customer gives',
          'On the network': networkName(symbol),
        }}
      />
      {fee !== undefined && received === undefined && (
        <Alert color="yellow">The network fee takes all of it at the moment.</Alert>
      )}
      <Text size="sm">
        {address
          ? 'It is sent as soon as you confirm, and cannot be taken back once it is signed. The fee is that of this moment.'
          : 'Until your customer uses the link the funds stay open: when you accept or return them otherwise, the link pays nothing.'}
      </Text>
    </Stack>
  );
}
