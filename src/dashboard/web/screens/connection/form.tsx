/** The fields of a connection, those of its type alone. */
import type { ReactElement } from 'react';
import type { Connection } from '../../api/types.ts';
import { AreaField, CheckField, ChoiceField, RadioGroup, TextField } from '../../ui/fields.tsx';
import { changesServer, type Draft } from './draft.ts';
import { KeyPairChoice } from './key-pairs.tsx';

export interface FormProps {
  readonly draft: Draft;
  readonly onDraft: (change: Partial<Draft>) => void;
  /** Absent while it is new. */
  readonly known?: Connection | undefined;
}

export function ConnectionFields(props: FormProps): ReactElement {
  const { draft, onDraft, known } = props;
  return (
    <>
      <RadioGroup
        label="Type of server"
        value={draft.type}
        disabled={known !== undefined}
        options={[
          ['sftp', 'SFTP'],
          ['ftp', 'FTP, FTPS'],
          ['s3', 'S3'],
        ]}
        onValue={(type) => onDraft({ type })}
      />
      <div className="form-grid">
        <TextField label="Name" required value={draft.name} onText={(name) => onDraft({ name })} maxLength={100} />
        <TextField
          label="Id"
          value={draft.id}
          disabled={known !== undefined}
          onText={(id) => onDraft({ id })}
          hint={known === undefined ? 'Names it in requests of the API. Empty: one is made.' : undefined}
          pattern="[a-z0-9][a-z0-9_\-]*"
        />
      </div>
      {draft.type === 's3' ? <S3Fields {...props} /> : <ServerFields {...props} />}
      <div className="form-grid">
        <TextField
          label="Default folder"
          value={draft.defaultPath}
          onText={(defaultPath) => onDraft({ defaultPath })}
          placeholder={draft.type === 's3' ? '/' : 'The login folder'}
          hint="Where files go when a request names no folder."
        />
        {draft.type !== 's3' && (
          <TextField
            label="Root folder"
            value={draft.rootPath}
            onText={(rootPath) => onDraft({ rootPath })}
            hint="Nothing outside of it can be reached."
          />
        )}
      </div>
      <details>
        <summary>Limits and habits of the server</summary>
        <div className="stack">
          <div className="form-grid">
            <TextField
              label="Sessions at most"
              inputMode="numeric"
              pattern="[0-9]*"
              value={draft.maxSessions}
              onText={(maxSessions) => onDraft({ maxSessions })}
              hint="Logins at once, for servers that allow few. Empty: the gateway's default."
            />
            <TextField
              label="Stall timeout, ms"
              inputMode="numeric"
              pattern="[0-9]*"
              value={draft.stallTimeoutMs}
              onText={(stallTimeoutMs) => onDraft({ stallTimeoutMs })}
              hint="A transfer that moves no byte for this long fails."
            />
          </div>
          {draft.type !== 's3' && (
            <CheckField
              label="Upload under a hidden name, then rename"
              hint="Nobody sees half a file. Switch it off only where the server refuses to rename."
              checked={draft.atomicUploads}
              onCheck={(atomicUploads) => onDraft({ atomicUploads })}
            />
          )}
          {draft.type === 'sftp' && (
            <ChoiceField
              label="Algorithms"
              value={draft.algorithms}
              onText={(algorithms) => onDraft({ algorithms })}
              options={[
                ['default', 'Current ones'],
                ['legacy', 'Old ones too, for servers that have no others'],
              ]}
            />
          )}
        </div>
      </details>
    </>
  );
}

function ServerFields({ draft, onDraft, known }: FormProps): ReactElement {
  const isSftp = draft.type === 'sftp';
  return (
    <>
      <div className="form-grid server-fields">
        <TextField
          label="Host"
          required
          value={draft.host}
          onText={(host) => onDraft({ host })}
          placeholder="sftp.example.com"
        />
        <TextField
          label="Port"
          inputMode="numeric"
          pattern="[0-9]*"
          value={draft.port}
          onText={(port) => onDraft({ port })}
          placeholder={isSftp ? '22' : '21'}
        />
      </div>
      {!isSftp && (
        <RadioGroup
          label="Encryption"
          value={draft.tls}
          options={[
            ['explicit', 'TLS (AUTH TLS)'],
            ['implicit', 'TLS from the start'],
            ['none', 'None'],
          ]}
          onValue={(tls) => onDraft({ tls })}
        />
      )}
      <TextField label="User name" required value={draft.username} onText={(username) => onDraft({ username })} />
      {isSftp && (
        <RadioGroup
          label="Log in with"
          value={draft.loginWith}
          options={[
            ['password', 'Password'],
            ['key', 'Private key'],
            ['pair', 'Generated key pair'],
          ]}
          onValue={(loginWith) => onDraft({ loginWith })}
        />
      )}
      {isSftp && draft.loginWith === 'key' && (
        <>
          <SecretArea
            label="Private key"
            name="privateKey"
            value={draft.privateKey}
            onText={(privateKey) => onDraft({ privateKey })}
            draft={draft}
            known={known}
          />
          <SecretText
            label="Passphrase of the key"
            name="passphrase"
            value={draft.passphrase}
            onText={(passphrase) => onDraft({ passphrase })}
            draft={draft}
            known={known}
          />
        </>
      )}
      {isSftp && draft.loginWith === 'pair' && (
        <KeyPairChoice value={draft.keyPairId} onValue={(keyPairId) => onDraft({ keyPairId })} />
      )}
      <SecretText
        label={isSftp && draft.loginWith !== 'password' ? 'Password, where the server asks for one too' : 'Password'}
        name="password"
        value={draft.password}
        onText={(password) => onDraft({ password })}
        draft={draft}
        known={known}
      />
      {isSftp ? (
        <AreaField
          label="Host key fingerprints"
          rows={2}
          value={draft.hostKeys}
          onText={(hostKeys) => onDraft({ hostKeys })}
          placeholder="SHA256:…"
          hint="One a line. Empty: the key seen first is remembered, and another one is refused."
        />
      ) : (
        draft.tls !== 'none' && <CertificateFields draft={draft} onDraft={onDraft} />
      )}
    </>
  );
}

function S3Fields({ draft, onDraft, known }: FormProps): ReactElement {
  return (
    <>
      <div className="form-grid">
        <TextField
          label="Endpoint"
          type="url"
          value={draft.endpoint}
          onText={(endpoint) => onDraft({ endpoint })}
          placeholder="https://s3.example.com"
          hint="Empty: AWS."
        />
        <TextField label="Region" value={draft.region} onText={(region) => onDraft({ region })} />
        <TextField label="Bucket" required value={draft.bucket} onText={(bucket) => onDraft({ bucket })} />
        <TextField
          label="Prefix"
          value={draft.prefix}
          onText={(prefix) => onDraft({ prefix })}
          hint="Nothing outside of it can be reached."
        />
        <TextField
          label="Access key id"
          required
          value={draft.accessKeyId}
          onText={(accessKeyId) => onDraft({ accessKeyId })}
        />
        <SecretText
          label="Secret access key"
          name="secretAccessKey"
          isRequired={known === undefined}
          value={draft.secretAccessKey}
          onText={(secretAccessKey) => onDraft({ secretAccessKey })}
          draft={draft}
          known={known}
        />
      </div>
      <SecretText
        label="Session token"
        name="sessionToken"
        value={draft.sessionToken}
        onText={(sessionToken) => onDraft({ sessionToken })}
        draft={draft}
        known={known}
      />
      <CheckField
        label="Bucket in the path"
        hint="What most stores but AWS want: https://host/bucket/key."
        checked={draft.forcePathStyle}
        onCheck={(forcePathStyle) => onDraft({ forcePathStyle })}
      />
      <CheckField
        label="Upload with AWS's own uploader"
        hint="For a store that refuses streamed parts. Each part is gathered in memory first."
        checked={draft.uploader === 'sdk'}
        onCheck={(isSdk) => onDraft({ uploader: isSdk ? 'sdk' : 'streamed' })}
      />
      <CertificateFields draft={draft} onDraft={onDraft} />
    </>
  );
}

function CertificateFields({ draft, onDraft }: FormProps): ReactElement {
  return (
    <>
      <CheckField
        label="Check the server's certificate"
        hint="Off, anybody on the way can read and change what is sent."
        checked={draft.tlsVerify}
        onCheck={(tlsVerify) => onDraft({ tlsVerify })}
      />
      {draft.tlsVerify && (
        <details>
          <summary>Own certificate authority</summary>
          <AreaField
            label="Certificates (PEM)"
            value={draft.tlsCa}
            onText={(tlsCa) => onDraft({ tlsCa })}
            placeholder="-----BEGIN CERTIFICATE-----"
          />
        </details>
      )}
    </>
  );
}

interface SecretProps extends Pick<FormProps, 'draft' | 'known'> {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly isRequired?: boolean;
}

function secretHint({ name, draft, known }: SecretProps): string | undefined {
  if (known?.secrets[name] !== true) return undefined;
  return changesServer(draft, known)
    ? 'The server changes: give it again. A stored secret is never sent to another server.'
    : 'One is stored and never shown. Leave this empty to keep it.';
}

function SecretText(props: SecretProps): ReactElement {
  return (
    <TextField
      label={props.label}
      type="password"
      required={props.isRequired}
      value={props.value}
      onText={props.onText}
      autoComplete="new-password"
      hint={secretHint(props)}
      placeholder={props.known?.secrets[props.name] === true ? '••••••••' : undefined}
    />
  );
}

function SecretArea(props: SecretProps): ReactElement {
  return (
    <AreaField
      label={props.label}
      value={props.value}
      onText={props.onText}
      hint={secretHint(props) ?? 'OpenSSH, PEM or PuTTY. It is kept encrypted and never shown again.'}
      placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
    />
  );
}
