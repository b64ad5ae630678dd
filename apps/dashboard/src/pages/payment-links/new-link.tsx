import {
  Button,
  Fieldset,
  Group,
  Modal,
  NumberInput,
  SegmentedControl,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { CreatePaymentLink } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { errorsOf } from '../../parts/form-errors.ts';
import { lockedModal } from '../../parts/locked-modal.ts';
import { AmountFields, AssetFields } from '../../parts/price-fields.tsx';
import { SendFailure, useSendOnce } from '../../parts/send-once.tsx';
import { useMay } from '../../session/session.ts';
import { emptyLink, type LinkChoice, linkOf, linkProblems } from './link-form.ts';

/** A button with the form of a new payment link. The page of the link comes afterwards. */
export function NewLink() {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [isOpen, { open, close }] = useDisclosure();
  const form = useForm({ initialValues: emptyLink, validate: linkProblems });
  const { send, isPending, error, isUnknown } = useSendOnce(
    (link: CreatePaymentLink, idempotencyKey) =>
      quittance.paymentLinks.create(link, { idempotencyKey, maxRetries: 0 }),
    ({ id }) => void navigate({ to: `/payment-links/${id}` }),
  );
  const { data: settings } = useQuery({
    queryKey: ['invoice-settings'],
    queryFn: ({ signal }) => quittance.invoiceSettings.retrieve({ signal }),
    enabled: useMay('settings:read'),
  });
  const submit = (choice: LinkChoice) =>
    send(linkOf(choice), {
      onError: (failure) => form.setErrors(errorsOf(failure)),
      onSettled: () => void client.invalidateQueries({ queryKey: ['payment-links'] }),
    });
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        New payment link
      </Button>
      <Modal opened={isOpen} onClose={close} title="New payment link" size="lg" {...lockedModal(isPending)}>
        <form onSubmit={form.onSubmit(submit)}>
          <Stack>
            <Fieldset variant="unstyled" disabled={isPending || isUnknown}>
              <Stack>
                <Textarea
                  label="What is paid"
                  description="The page of the link shows it."
                  maxLength={500}
                  autosize
                  minRows={2}
                  withAsterisk
                  data-autofocus
                  {...form.getInputProps('description')}
                />
                <SegmentedControl
                  aria-label="Who says how much"
                  data={[
                    { value: 'fixed', label: 'One price' },
                    { value: 'open', label: 'The payer types the amount' },
                  ]}
                  {...form.getInputProps('price')}
                />
                {form.values.price === 'fixed' ? (
                  <AmountFields form={form} label="Price" usual={settings?.currency} />
                ) : (
                  <>
                    <AmountFields
                      form={form}
                      name="amount_min"
                      label="At least"
                      isOptional
                      usual={settings?.currency}
                    />
                    <TextInput label="At most" inputMode="decimal" {...form.getInputProps('amount_max')} />
                  </>
                )}
                <AssetFields form={form} />
                <Group grow align="flex-start">
                  <NumberInput
                    label="Days until it ends"
                    placeholder="never"
                    min={1}
                    max={365}
                    allowDecimal={false}
                    {...form.getInputProps('valid_days')}
                  />
                  <NumberInput
                    label="Open invoices at a time"
                    placeholder="100"
                    min={1}
                    max={10_000}
                    allowDecimal={false}
                    {...form.getInputProps('max_open')}
                  />
                </Group>
              </Stack>
            </Fieldset>
            <SendFailure
              error={error}
              isUnknown={isUnknown}
              what="the payment link was created"
              list={{ to: '/payment-links', label: 'The list of payment links' }}
            />
            <Group justify="flex-end">
              <Button variant="default" onClick={close} disabled={isPending}>
                Not now
              </Button>
              <Button type="submit" loading={isPending}>
                Create payment link
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
