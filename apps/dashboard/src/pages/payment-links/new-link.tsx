import { Button, Group, Modal, NumberInput, SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { useInvoiceSettings } from '../../parts/account-data.ts';
import { lockedModal } from '../../parts/dialogs.tsx';
import { AmountFields, AssetFields } from '../../parts/price-fields.tsx';
import { SendOnceForm } from '../../parts/send-once-form.tsx';
import { emptyLink, linkOf, linkProblems } from './link-form.ts';

/** A button with the form of a new payment link. The page of the link comes afterwards. */
export function NewLink() {
  const navigate = useNavigate();
  const [isOpen, { open, close }] = useDisclosure();
  const [isPending, setPending] = useState(false);
  const { data: settings } = useInvoiceSettings();
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        New payment link
      </Button>
      {/* What was sent and has no answer yet is still there when the dialog was closed in between. */}
      <Modal
        opened={isOpen}
        onClose={close}
        title="New payment link"
        size="lg"
        keepMounted
        {...lockedModal(isPending)}
      >
        <SendOnceForm
          initialValues={emptyLink}
          validate={linkProblems}
          requestOf={linkOf}
          send={(link, options) => quittance.paymentLinks.create(link, options)}
          onDone={({ id }) => void navigate({ to: `/payment-links/${id}` })}
          changes={['payment-links']}
          button="Create payment link"
          onClose={close}
          onPending={setPending}
          what="the payment link was created"
          list={{ to: '/payment-links', label: 'The list of payment links' }}
        >
          {(form) => (
            <>
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
            </>
          )}
        </SendOnceForm>
      </Modal>
    </>
  );
}
