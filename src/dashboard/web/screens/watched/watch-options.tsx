/** What most watches do not need: when a file counts, what becomes of it, an alarm when none comes. */
import type { ReactElement } from 'react';
import { ChoiceField, TextField } from '../../ui/fields.tsx';
import { AFTER_DELIVERY, type WatchDraft } from './draft.ts';

export function WatchOptions({
  draft,
  onChange,
}: {
  readonly draft: WatchDraft;
  readonly onChange: (to: Partial<WatchDraft>) => void;
}): ReactElement {
  const { initial, doneFile, minAgeSeconds, afterDelivery, moveTo, expectEveryMinutes, webhookUrl } = draft;
  const hasWebhook = webhookUrl.trim() !== '';
  return (
    <details>
      <summary>More options</summary>
      <div className="form-grid">
        <ChoiceField
          label="Files that are there already"
          value={initial}
          onText={(value) => onChange({ initial: value === 'report' ? 'report' : 'ignore' })}
          options={[
            ['ignore', 'Are the baseline, not reported'],
            ['report', 'Are reported like new ones'],
          ]}
        />
        <TextField
          label="Wait for a done file"
          value={doneFile}
          onText={(value) => onChange({ doneFile: value })}
          placeholder="{filename}.done"
          hint="A file counts once this one is there too. {filename} is its name, {name} that without the extension."
        />
        <TextField
          label="Youngest age in seconds"
          type="number"
          min={0}
          max={604_800}
          value={minAgeSeconds}
          onText={(value) => onChange({ minAgeSeconds: value })}
          hint="Younger files wait for a later check."
        />
        <TextField
          label="Alarm after minutes without a file"
          type="number"
          min={1}
          max={525_600}
          value={expectEveryMinutes}
          onText={(value) => onChange({ expectEveryMinutes: value })}
          hint="The webhook gets a message of its own. Empty: no alarm."
        />
        <ChoiceField
          label="Once the webhook has the message"
          value={hasWebhook ? afterDelivery : 'keep'}
          disabled={!hasWebhook}
          onText={(value) =>
            onChange({ afterDelivery: AFTER_DELIVERY.find(([choice]) => choice === value)?.[0] ?? 'keep' })
          }
          options={AFTER_DELIVERY}
          hint={hasWebhook ? 'What becomes of the file.' : 'Needs a webhook.'}
        />
        {hasWebhook && afterDelivery === 'move' && (
          <TextField
            label="Move it to"
            value={moveTo}
            onText={(value) => onChange({ moveTo: value })}
            placeholder="processed"
            hint="Below the watched folder, or from the root with /."
          />
        )}
      </div>
    </details>
  );
}
