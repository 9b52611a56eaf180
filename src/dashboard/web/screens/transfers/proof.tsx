/** The proof of a transfer: the digest of its file, and its receipt. */
import type { ReactElement } from 'react';
import type { TransferDetail } from '../../api/types.ts';
import { withQuery } from '../../api/client.ts';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { CopyButton, DownloadLink, Facts, LinkButton, Mono, Panel } from '../../ui/basics.tsx';

const words = t.transfers.proof;
/** Other types have no size and no destination. */
export const WITH_CONTENT: readonly TransferDetail['type'][] = [
  'upload',
  'download',
  'read',
  'write',
  'append',
  'copy',
];

const HEX = /^(?:sha-256:)?([0-9a-f]{64})$/i;

/** The typed or pasted digest; undefined if the text is not a digest. */
export function digestIn(text: string): string | undefined {
  const [, hex] = HEX.exec(text.trim()) ?? [];
  return hex === undefined ? undefined : `sha-256:${hex.toLowerCase()}`;
}

/** Shows nothing for a transfer that moves no file or is not finished. */
export function Proof({ transfer }: { readonly transfer: TransferDetail }): ReactElement | null {
  const { id, type, status, digest, noDigest, receipt } = transfer;
  const hasContent = status === 'success' && (noDigest !== null || WITH_CONTENT.includes(type));
  if (digest === null && receipt === null && !hasContent) return null;
  const path = `/api/transfers/${id}/receipt` as const;
  return (
    <Panel title={words.title}>
      <div className="panel-body stack">
        <Facts
          of={{
            [t.fields.link.digest.label]: digest === null && !hasContent ? undefined : <Digest transfer={transfer} />,
            [words.receipt]: receipt === null ? words.none : words.number(formatNumber(receipt.sequence)),
            [words.signedBy]: receipt === null ? undefined : <Mono>{receipt.keyId}</Mono>,
          }}
        />
        <div className="row">
          {digest !== null && (
            <>
              <CopyButton text={hexOf(digest)} label={words.copyDigest} />
              <LinkButton href={withQuery('/transfers', { digest })}>{words.find}</LinkButton>
            </>
          )}
          {receipt !== null && (
            <>
              <DownloadLink href={path} filename={`receipt-${id}.jws`}>
                {words.download}
              </DownloadLink>
              <CopyButton text={`${location.origin}${path}`} label={words.copyLink} />
            </>
          )}
        </div>
        {receipt !== null && (
          <p className="hint">
            {words.chain} <code className="mono">ftg verify</code> {words.checks}{' '}
            <a href="/.well-known/jwks.json">{words.publicKeys}</a>.
          </p>
        )}
      </div>
    </Panel>
  );
}

function Digest({ transfer: { digest, noDigest } }: { readonly transfer: TransferDetail }): ReactElement {
  if (digest !== null) return <Mono>{hexOf(digest)}</Mono>;
  const why = noDigest === null ? words.notRequested : words.gaps[noDigest];
  return <span className="muted">{words.notTaken(why)}</span>;
}

const hexOf = (digest: string): string => digest.slice('sha-256:'.length);
