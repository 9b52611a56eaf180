/** What proves a transfer: the digest of its file, and its receipt. */
import type { ReactElement } from 'react';
import type { TransferDetail } from '../../api/types.ts';
import { withQuery } from '../../api/client.ts';
import { formatNumber } from '../../format.ts';
import { CopyButton, Facts, LinkButton, Panel } from '../../ui/basics.tsx';
import { Download } from '../../ui/icons.tsx';

const WITH_CONTENT: readonly TransferDetail['type'][] = ['upload', 'download', 'read', 'write', 'append', 'copy'];

const GAPS: Readonly<Record<NonNullable<TransferDetail['noDigest']>, string>> = {
  server_side_copy: 'the server made the copy by itself, so no byte passed here',
  server_side_move: 'the server moved the file by itself, so no byte passed here',
  append: 'of an append the added part alone passes here',
  range: 'a part of the file was read',
  pieces: 'the file came in several pieces, and it was asked for after the first one, or its state was lost',
  not_sent: 'no bytes were sent',
  earlier_try: 'an earlier try, whose gateway died, had done it already',
};

const HEX = /^(?:sha-256:)?([0-9a-f]{64})$/i;

/** What somebody has typed or pasted, as a digest; undefined where it is none. */
export function digestIn(text: string): string | undefined {
  const [, hex] = HEX.exec(text.trim()) ?? [];
  return hex === undefined ? undefined : `sha-256:${hex.toLowerCase()}`;
}

/** Nothing of a transfer that moves no file, or is not through. */
export function Proof({ transfer }: { readonly transfer: TransferDetail }): ReactElement | null {
  const { id, type, status, digest, noDigest, receipt } = transfer;
  const hasContent = status === 'success' && (noDigest !== null || WITH_CONTENT.includes(type));
  if (digest === null && receipt === null && !hasContent) return null;
  const path = `/api/transfers/${id}/receipt`;
  return (
    <Panel title="Digest and receipt">
      <div className="panel-body stack">
        <Facts
          items={[
            ...(digest === null && !hasContent ? [] : [['SHA-256', <Digest key="d" transfer={transfer} />] as const]),
            ['Receipt', receipt === null ? 'none' : `number ${formatNumber(receipt.sequence)} of the account’s chain`],
            ...(receipt === null ? [] : [['Signed by', <Mono key="k" text={receipt.keyId} />] as const]),
          ]}
        />
        <div className="row">
          {digest !== null && (
            <>
              <CopyButton text={hexOf(digest)} label="Copy the digest" />
              <LinkButton href={withQuery('/transfers', { digest })}>Find where this file went</LinkButton>
            </>
          )}
          {receipt !== null && (
            <>
              <a className="button plain" href={path} download={`receipt-${id}.jws`}>
                <Download aria-hidden size={15} /> Download the receipt
              </a>
              <CopyButton text={`${location.origin}${path}`} label="Copy its link" />
            </>
          )}
        </div>
        {receipt !== null && (
          <p className="hint">
            Signed, and chained to the receipt before it. <Mono text="ftg verify" /> checks it without this gateway, by
            the <a href="/.well-known/jwks.json">public keys</a>.
          </p>
        )}
      </div>
    </Panel>
  );
}

function Digest({ transfer: { digest, noDigest } }: { readonly transfer: TransferDetail }): ReactElement {
  if (digest !== null) return <Mono text={hexOf(digest)} />;
  const why =
    noDigest === null ? 'nobody asked: neither the request, nor the connection, nor the account' : GAPS[noDigest];
  return <span className="muted">not taken: {why}</span>;
}

function Mono({ text }: { readonly text: string }): ReactElement {
  return <span className="mono">{text}</span>;
}

const hexOf = (digest: string): string => digest.slice('sha-256:'.length);
