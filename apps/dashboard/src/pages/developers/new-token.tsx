import { Select, Text, Textarea, TextInput } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { isNotEmpty } from '@mantine/form';
import type { CreatedToken } from '@quittance/client';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { type Chosen, ScopeChoice } from './scope-choice.tsx';
import { expiryOf, lifetimes } from './token-expiry.ts';
import { addressesIn } from './token-scopes.ts';

const nothing = {
  name: '',
  scopes: [] as Chosen,
  lifetime: '90',
  day: null as string | null,
  allowed_ips: '',
};

function tokenOf({ name, scopes, lifetime, day, allowed_ips: addresses }: typeof nothing) {
  const expiresAt = expiryOf(lifetime, day, new Date());
  const allowed = addressesIn(addresses);
  return {
    name: name.trim(),
    ...(scopes === 'everything' ? {} : { scopes }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(allowed.length === 0 ? {} : { allowed_ips: allowed }),
  };
}

/** One form creates one token, also when it is sent again because an answer was lost: by its key. */
export function NewToken({ onCreated }: { onCreated(token: CreatedToken): void }) {
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const sent = useSentForm({
    initialValues: nothing,
    validate: {
      scopes: isNotEmpty('Choose what it may do: a token without anything is of no use.'),
      day: (day, { lifetime }) => (lifetime === 'day' && day === null ? 'Choose the last day.' : null),
    },
    send: (values) => quittance.tokens.create(tokenOf(values), { idempotencyKey }),
    onDone: onCreated,
    changes: ['tokens'],
  });
  const { values, errors, setFieldValue } = sent.form;
  return (
    <SendForm
      sent={sent}
      button="Create"
      unknown="It is not known whether the token was created. Press again: this form creates no second one. If one was created, revoke it, because it cannot be shown any more."
    >
      <TextInput
        label="Name"
        description="The program that uses it"
        placeholder="shop.example.com"
        required
        data-autofocus
        {...sent.field('name')}
      />
      <ScopeChoice
        value={values.scopes}
        onChange={(scopes) => setFieldValue('scopes', scopes)}
        error={errors['scopes'] as string | undefined}
      />
      <Select
        label="Expires"
        data={[...lifetimes]}
        allowDeselect={false}
        w={260}
        {...sent.field('lifetime')}
        error={errors['expires_at']}
      />
      {values.lifetime === 'day' && (
        <DatePickerInput
          label="Last day"
          minDate={new Date()}
          valueFormat="D MMM YYYY"
          w={260}
          {...sent.field('day')}
        />
      )}
      <Textarea
        label="Only from these addresses"
        description="IPv4 and IPv6 addresses and networks, one a line. Empty: from everywhere."
        placeholder={'203.0.113.7\n2001:db8::/48'}
        autosize
        minRows={2}
        {...sent.field('allowed_ips')}
      />
      {values.scopes === 'everything' && (
        <Text size="sm">
          A token that may do everything is as good as your password: give a program what it needs instead.
        </Text>
      )}
    </SendForm>
  );
}
