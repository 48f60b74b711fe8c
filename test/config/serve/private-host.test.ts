import { expect, test } from "vitest";
import { privateHostFault } from "../../../src/config/serve/private-host.ts";
import { createAllowedHosts } from "../../../src/host/web/allowed-hosts.ts";

test.each([
  ["*", "http://anything/"],
  ["localhost", "http://localhost:3000/"],
  ["wiki.internal.example.com", "https://wiki.internal.example.com/a"],
  [" Wiki.Example.com ", "https://wiki.example.com/"],
  ["bücher.example", "https://bücher.example/"],
  ["my_host:8080", "http://my_host:8080/"],
  ["127.0.0.1", "http://127.0.0.1/"],
  ["127.0.0.1:5000", "http://127.0.0.1:5000/"],
  ["fd00::1", "http://[fd00::1]/"],
  ["[fd00::1]", "http://[fd00::1]/"],
  ["[fd00::1]:80", "http://[fd00::1]/"],
])("%j is an entry that allows %s", (entry, url) => {
  expect(privateHostFault(entry)).toBeUndefined();
  expect(createAllowedHosts([entry]).byName(new URL(url))).toBe(true);
});

test.each([
  ["10.0.0.0/8", "10.1.2.3"],
  ["127.0.0.1/32", "127.0.0.1"],
  ["0.0.0.0/0", "192.168.0.1"],
  ["fd00::/8", "fd12::1"],
  ["::1/128", "::1"],
])("%j is a block that contains %s", (entry, address) => {
  expect(privateHostFault(entry)).toBeUndefined();
  expect(createAllowedHosts([entry]).byAddress(address, [])).toBe(true);
});

const noEntry = "is not a host, an address, a block of addresses or *";
const notBlock = (most: number): string => `is not a valid block: its prefix length must be a number up to ${most}`;

test.each([
  ["127.0.0.1/99", notBlock(32)],
  ["10.0.0.0/8/8", notBlock(32)],
  ["10.0.0.0/", notBlock(32)],
  ["10.0.0.0/-1", notBlock(32)],
  ["fd00::/129", notBlock(128)],
  ["http://x", "is a URL. Write only its host"],
  ["localhost/wiki", "has a path. Write only the host"],
  ["300.0.0.0/8", "has a path. Write only the host"],
  ["*.example.com", noEntry],
  ["a b", noEntry],
  ["me@host", noEntry],
  ["host:0", noEntry],
  ["host:70000", noEntry],
  ["host:http", noEntry],
  ["host?x", noEntry],
  ["host#x", noEntry],
  ["[fd00::1", noEntry],
  ["fe80::1%eth0", noEntry],
  ["1.2.3.4.5", noEntry],
  [" ", noEntry],
])("%j is rejected", (entry, why) => {
  expect(privateHostFault(entry)).toBe(`"${entry}" ${why}`);
});
