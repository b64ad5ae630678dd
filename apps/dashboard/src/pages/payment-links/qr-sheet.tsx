import './qr-sheet.css';
import { Text } from '@mantine/core';
import type { PaymentLink } from '@quittance/client';
import { createPortal } from 'react-dom';
import { QrCode } from '../../parts/qr-code.tsx';
import { priceOf } from './link-price.tsx';

/** A sheet to put up, which only the printer gets. */
export const QrSheet = ({ link }: { link: PaymentLink }) =>
  createPortal(
    <div className="qr-sheet" aria-hidden>
      <Text fz="9mm" fw={700} lh={1.2}>
        {link.description}
      </Text>
      <Text fz="7mm">{priceOf(link)}</Text>
      <QrCode text={link.url} label="" size={416} />
      <Text fz="4mm">Scan the code to pay, or open</Text>
      <Text fz="4mm">{link.url}</Text>
    </div>,
    document.body,
  );
