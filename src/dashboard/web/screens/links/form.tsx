/** The form of a link: its target and its limits. */
import type { ReactElement } from 'react';
import type { CreatedLink } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ChoiceField } from '../../ui/fields.tsx';
import { ThingDialog, useForm } from '../../ui/form.tsx';
import { HOUR_MS } from '../../../../contract/units.ts';

const words = t.links.form;
/** In hours. */
const LIVES = [
  ['1', words.lives.hour],
  ['24', words.lives.day],
  ['168', words.lives.week],
  ['720', words.lives.month],
  ['2160', words.lives.quarter],
] as const;

const OF_UPLOADS = ['overwrite', 'folders'];

/** The values that are known before the form opens. */
export interface LinkStart {
  readonly operation?: string;
  readonly connectionId?: string;
  readonly path?: string;
}

export function LinkForm(props: {
  readonly start: LinkStart;
  readonly onMade: (link: CreatedLink) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { start, onMade, onClose } = props;
  const form = useForm(['link'], {
    keepAs: `link ${JSON.stringify(start)}`,
    start: {
      hours: '168',
      operation: start.operation === 'download' ? 'download' : 'upload',
      ...(start.connectionId === undefined ? {} : { connectionId: start.connectionId }),
      ...(start.path === undefined ? {} : { path: start.path }),
    },
    without: ['expiresAt'],
    asks: (name, draft) => !OF_UPLOADS.includes(name) || draft['operation'] === 'upload',
    adjust: (draft) => ({
      ...draft,
      digest: String(draft['digest'])
        .trim()
        .replace(/^(?:sha-?256:)?(?=[\da-f]{64}$)/i, 'sha-256:'),
    }),
  });
  const isUpload = form.draft['operation'] === 'upload';
  const answers = (): object => {
    return {
      ...form.answers(),
      expiresAt: new Date(Date.now() + Number(form.draft['hours']) * HOUR_MS).toISOString(),
    };
  };
  return (
    <ThingDialog<{ link: CreatedLink }>
      form={form}
      at="/api/links"
      title={t.links.add}
      verb={words.verb}
      answers={answers}
      onDone={({ link }) => onMade(link)}
      onClose={onClose}
      groups={[
        { names: ['operation', 'connectionId', 'path'], isPlain: true },
        { names: ['expiresAt', 'maxUses', 'maxBytes', 'filename', 'note'] },
        { title: t.common.more, names: ['digest', 'overwrite', 'folders'], isPlain: true },
      ]}
      special={{
        operation: { isRadio: true },
        path: isUpload ? {} : { label: t.words.file, hint: words.fileHint },
        expiresAt: {
          draw: () => (
            <ChoiceField
              label={t.fields.link.expiresAt.label}
              value={String(form.draft['hours'])}
              onText={(hours) => form.set({ hours })}
              options={LIVES}
            />
          ),
        },
        filename: isUpload ? {} : { hint: words.saveAsHint },
        digest: isUpload ? {} : { hint: words.digestOfDownloadHint },
      }}
    />
  );
}
