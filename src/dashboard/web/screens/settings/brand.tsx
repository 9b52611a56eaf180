/** The name, colour and logo that the pages of links show. */
import { type ReactElement, useState } from 'react';
import { LOGO_BYTES } from '../../../../contract/units.ts';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Brand } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Button, Failure, Loaded, Panel } from '../../ui/basics.tsx';
import { CheckedForm } from '../../ui/checked-form.tsx';
import { changesOf } from '../../ui/draft.ts';
import { TextField } from '../../ui/fields.tsx';
import { FormFields, useForm } from '../../ui/form.tsx';
import { showToast } from '../../toasts.ts';

const AT = '/manage/account/brand';

export function BrandPanel(): ReactElement {
  const read = useRead(AT);
  return (
    <Panel title={t.settings.brand.title}>
      <Loaded of={read}>{(brand) => <BrandForm brand={brand} />}</Loaded>
    </Panel>
  );
}

function BrandForm({ brand }: { readonly brand: Brand }): ReactElement {
  const words = t.settings.brand;
  const form = useForm(['brand'], { former: brand });
  const [isTooLarge, setTooLarge] = useState(false);
  const save = useAction(() => request('PATCH', AT, changesOf(form.fields, form.draft, brand)), {
    onDone: () => showToast(words.saved),
    refreshes: [AT],
    showsError: true,
  });
  const logo = String(form.draft['logo'] ?? '');
  const choose = async (file: File | undefined): Promise<void> => {
    setTooLarge(file !== undefined && file.size > LOGO_BYTES);
    if (file === undefined || file.size > LOGO_BYTES) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    form.set({ logo: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')) });
  };
  return (
    <CheckedForm className="panel-body" onSend={() => save.mutate(undefined)}>
      <p className="muted">{words.lead}</p>
      <FormFields
        form={form}
        groups={[{ names: ['name', 'color', 'logo'], isPlain: true }]}
        special={{
          logo: {
            draw: () => (
              <>
                {logo !== '' && (
                  <div className="row">
                    <img className="brand-logo" src={`data:;base64,${logo}`} alt={t.fields.brand.logo.label} />
                    <Button onClick={() => form.set({ logo: '' })}>{words.remove}</Button>
                  </div>
                )}
                <TextField
                  {...t.fields.brand.logo}
                  type="file"
                  accept="image/png,image/jpeg,image/webp"
                  fault={isTooLarge ? words.tooLarge : undefined}
                  onInput={(event) => void choose(event.currentTarget.files?.[0])}
                />
              </>
            ),
          },
        }}
      />
      <Failure error={save.error} />
      <div className="row end">
        <Button variant="primary" type="submit" isBusy={save.isPending}>
          {words.save}
        </Button>
      </div>
    </CheckedForm>
  );
}
