import { Button, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import { useForm } from '@mantine/form';
import type { CreatedToken } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { errorsOfLists } from '../../parts/form-errors.ts';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { type Chosen, ScopeChoice } from './scope-choice.tsx';
import { expiryOf, lifetimes } from './token-expiry.ts';
import { addressesIn } from './token-scopes.ts';

type Props = { isOpen: boolean; onClose(): void; onCreated(token: CreatedToken): void };

export const NewToken = ({ isOpen, onClose, onCreated }: Props) => (
  <Modal opened={isOpen} onClose={onClose} title="Create an API token" size="xl" closeOnClickOutside={false}>
    <NewTokenForm onCreated={onCreated} />
  </Modal>
);

/** One form creates one token, also when it is sent again because an answer was lost: by its key. */
function NewTokenForm({ onCreated }: Pick<Props, 'onCreated'>) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const form = useForm({
    initialValues: {
      name: '',
      scopes: [] as Chosen,
      lifetime: '90',
      day: null as string | null,
      allowed_ips: '',
    },
    validate: {
      scopes: (scopes) =>
        scopes.length === 0 ? 'Choose what it may do: a token without anything is of no use.' : null,
      day: (day, { lifetime }) => (lifetime === 'day' && day === null ? 'Choose the last day.' : null),
    },
  });
  const create = useMutation({
    mutationFn: ({ name, scopes, lifetime, day, allowed_ips: addresses }: typeof form.values) => {
      const expiresAt = expiryOf(lifetime, day, new Date());
      const allowed = addressesIn(addresses);
      const token = {
        name: name.trim(),
        ...(scopes === 'everything' ? {} : { scopes }),
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
        ...(allowed.length === 0 ? {} : { allowed_ips: allowed }),
      };
      return stepUp(() => quittance.tokens.create(token, { idempotencyKey }));
    },
    onSuccess: onCreated,
    onError: (error) => form.setErrors(errorsOfLists(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack>
        <TextInput
          label="Name"
          description="The program that uses it"
          placeholder="shop.example.com"
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <ScopeChoice
          value={form.values.scopes}
          onChange={(scopes) => form.setFieldValue('scopes', scopes)}
          error={form.errors['scopes'] as string | undefined}
        />
        <Select
          label="Expires"
          data={[...lifetimes]}
          allowDeselect={false}
          w={260}
          {...form.getInputProps('lifetime')}
          error={form.errors['expires_at']}
        />
        {form.values.lifetime === 'day' && (
          <DatePickerInput
            label="Last day"
            minDate={new Date()}
            valueFormat="D MMM YYYY"
            w={260}
            {...form.getInputProps('day')}
          />
        )}
        <Textarea
          label="Only from these addresses"
          description="IPv4 and IPv6 addresses and networks, one a line. Empty: from everywhere."
          placeholder={'203.0.113.7\n2001:db8::/48'}
          autosize
          minRows={2}
          {...form.getInputProps('allowed_ips')}
        />
        <UnknownOutcome error={create.error}>
          It is not known whether the token was created. Press again: this form creates no second one. If one
          was created, revoke it, because it cannot be shown any more.
        </UnknownOutcome>
        {create.error !== null && <Failure error={create.error} />}
        {form.values.scopes === 'everything' && (
          <Text size="sm">
            A token that may do everything is as good as your password: give a program what it needs instead.
          </Text>
        )}
        <Button type="submit" loading={create.isPending}>
          Create
        </Button>
      </Stack>
    </form>
  );
}
