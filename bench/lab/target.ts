/** A remote server to move files to and from: its settings for clients, and the stored files for the bench. */
export interface SftpTarget {
  readonly protocol: 'sftp';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly keyFile: string;
  /** The folder for the files; the server's paths are the machine's own. */
  readonly folder: string;
  /** The address of a proxy on the way to it. */
  readonly proxy?: string;
  /** The connection of a jump host on the way to it. */
  readonly via?: string;
}

export interface FtpTarget {
  readonly protocol: 'ftp';
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** The login's root on this machine. */
  readonly folder: string;
}

export interface S3Target {
  readonly protocol: 's3';
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export type Target = SftpTarget | FtpTarget | S3Target;
export type Protocol = Target['protocol'];

/** The path of a file called `name`, as the target's clients write it. */
export function pathOn(target: Target, name: string): string {
  return target.protocol === 'sftp' ? `${target.folder}/${name}` : `/${name}`;
}
