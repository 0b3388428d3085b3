// AWS Signature Version 4 by the browser's Web Crypto, which exists in secure contexts only: TLS and loopback.

const SERVICE = 'dynamodb';
const REGION = 'local';
const encoder = new TextEncoder();

export const canSign = () => globalThis.isSecureContext === true && globalThis.crypto?.subtle !== undefined;

const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const sha256 = async (text) => hex(await crypto.subtle.digest('SHA-256', encoder.encode(text)));

async function importKey(bytes) {
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}
async function hmac(key, text) {
  return crypto.subtle.sign('HMAC', key, encoder.encode(text));
}

// "20150830T123600Z".
export const basicTime = (date) => date.toISOString().replace(/[-:]|\.[0-9]+/g, '');

// Signs requests with one access key. The secret itself is not kept, only a key that the browser does not show.
export class Signer {
  static async make(id, secret) {
    const signer = new Signer();
    signer.id = id;
    signer.secretKey = await importKey(encoder.encode(`AWS4${secret}`));
    signer.days = new Map();
    return signer;
  }

  async dayKey(day) {
    if (!this.days.has(day)) {
      this.days.clear();
      let key = this.secretKey;
      for (const part of [day, REGION, SERVICE, 'aws4_request']) key = await importKey(await hmac(key, part));
      this.days.set(day, key);
    }
    return this.days.get(day);
  }

  // The headers to add. `headers`: those to sign, by names in lower case. `host`: as the browser will send it.
  async sign({ method, path, host, headers, body, now }) {
    const time = basicTime(now);
    const all = { ...headers, host, 'x-amz-date': time };
    const names = Object.keys(all).sort();
    const canonical = [
      method, path, '', ...names.map((name) => `${name}:${all[name].trim()}`), '', names.join(';'), await sha256(body),
    ].join('\n');
    const scope = `${time.slice(0, 8)}/${REGION}/${SERVICE}/aws4_request`;
    const text = ['AWS4-HMAC-SHA256', time, scope, await sha256(canonical)].join('\n');
    const signature = hex(await hmac(await this.dayKey(time.slice(0, 8)), text));
    return {
      'x-amz-date': time,
      authorization:
        `AWS4-HMAC-SHA256 Credential=${this.id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
    };
  }
}
