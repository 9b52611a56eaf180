/**
 * A program: the gateway that a user would write in an afternoon. node:http in front of the streams of ssh2, basic-ftp
 * and lib-storage, a login for each request, no history, no checks, no hidden names. One thing that the user would not
 * know is added for fairness: TCP_NODELAY on the SSH socket, without which ssh2's write stream is 80 times slower.
 *
 * Arguments: port, target as JSON. PUT /name, GET /name, GET /name?json, POST /json with { filename, content }.
 */
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Client as FtpClient } from 'basic-ftp';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { buffer, json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Client as SshClient, type SFTPWrapper } from 'ssh2';
import { pathOn, type FtpTarget, type S3Target, type SftpTarget, type Target } from '../lab/target.js';

interface Store {
  upload(name: string, body: Readable): Promise<void>;
  download(name: string, to: Writable): Promise<void>;
}

const [port = '', targetText = ''] = process.argv.slice(2);
const store = storeOf(JSON.parse(targetText) as Target);

http
  .createServer((request, response) => {
    serve(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(error.message);
    });
  })
  .listen(Number(port), '127.0.0.1');

async function serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://gateway');
  const name = url.pathname.slice(1);
  if (request.method === 'POST') {
    const { filename, content } = (await json(request)) as { filename: string; content: string };
    await store.upload(filename, Readable.from([Buffer.from(content, 'base64')]));
  } else if (request.method === 'PUT') {
    await store.upload(name, request);
  } else if (url.searchParams.has('json')) {
    const through = new PassThrough();
    const [content] = await Promise.all([buffer(through), store.download(name, through)]);
    response.end(JSON.stringify({ content: content.toString('base64') }));
    return;
  } else {
    await store.download(name, response);
    return;
  }
  response.end('{"success":true}');
}

function storeOf(target: Target): Store {
  switch (target.protocol) {
    case 'sftp':
      return sftpStore(target);
    case 'ftp':
      return ftpStore(target);
    case 's3':
      return s3Store(target);
  }
}

function sftpStore(target: SftpTarget): Store {
  const privateKey = readFileSync(target.keyFile);
  const use = async (work: (sftp: SFTPWrapper) => Promise<void>): Promise<void> => {
    const client = new SshClient();
    const ready = once(client, 'ready');
    client.connect({ host: target.host, port: target.port, username: target.username, privateKey });
    await ready;
    client.setNoDelay(true);
    try {
      await work(await promised<SFTPWrapper>((done) => client.sftp(done)));
    } finally {
      client.end();
    }
  };
  return {
    upload: (name, body) => use((sftp) => pipeline(body, sftp.createWriteStream(pathOn(target, name)))),
    download: (name, to) => use((sftp) => pipeline(sftp.createReadStream(pathOn(target, name)), to)),
  };
}

function ftpStore({ host, port: ftpPort, username, password }: FtpTarget): Store {
  const use = async (work: (client: FtpClient) => Promise<unknown>): Promise<void> => {
    const client = new FtpClient();
    try {
      await client.access({ host, port: ftpPort, user: username, password });
      await work(client);
    } finally {
      client.close();
    }
  };
  return {
    upload: (name, body) => use((client) => client.uploadFrom(body, `/${name}`)),
    download: (name, to) => use((client) => client.downloadTo(to, `/${name}`)),
  };
}

function s3Store({ endpoint, region, bucket, accessKeyId, secretAccessKey }: S3Target): Store {
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  return {
    upload: async (name, body) => {
      await new Upload({ client, params: { Bucket: bucket, Key: name, Body: body } }).done();
    },
    download: async (name, to) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: name }));
      await pipeline(Body as Readable, to);
    },
  };
}

function promised<T>(start: (done: (error: Error | undefined, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => {
      if (error === undefined) resolve(value);
      else reject(error);
    });
  });
}
