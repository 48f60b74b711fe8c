import { describe, expect, it } from "vitest";
import { createAllowedHosts } from "../../../src/host/web/allowed-hosts.ts";
import { isPublicAddress, leadsInto, ownBlocks } from "../../../src/host/web/private-address.ts";

describe("public addresses", () => {
  it("are those reachable from the internet", () => {
    const addresses = [
      "1.1.1.1",
      "8.8.8.8",
      "9.255.255.255",
      "11.0.0.0",
      "100.63.255.255",
      "100.128.0.0",
      "126.255.255.255",
      "128.0.0.0",
      "169.253.255.255",
      "172.15.255.255",
      "172.32.0.0",
      "192.167.255.255",
      "192.169.0.0",
      "198.17.255.255",
      "198.20.0.0",
      "223.255.255.255",
      "168.63.129.17",
      "2606:4700:4700::1111",
      "2001:4860:4860::8888",
      "2a00::1",
      "3ffe::1",
      "::ffff:8.8.8.8",
      "64:ff9b::8.8.8.8",
    ];
    expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([]);
  });

  it("exclude this machine's, private, unassigned and cloud metadata addresses", () => {
    const addresses = [
      "0.0.0.0",
      "0.255.255.255",
      "10.0.0.1",
      "10.255.255.255",
      "100.64.0.0",
      "100.100.100.200",
      "100.127.255.255",
      "127.0.0.1",
      "127.255.255.254",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.192",
      "192.0.2.1",
      "192.88.99.1",
      "192.168.1.1",
      "198.18.0.1",
      "198.19.255.255",
      "198.51.100.1",
      "203.0.113.1",
      "224.0.0.1",
      "239.255.255.255",
      "240.0.0.1",
      "255.255.255.255",
      "168.63.129.16",
      "::",
      "::1",
      "::127.0.0.1",
      "::8.8.8.8",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::ffff:169.254.169.254",
      "::ffff:0:127.0.0.1",
      "64:ff9b::127.0.0.1",
      "64:ff9b::10.0.0.1",
      "64:ff9b:1::8.8.8.8",
      "100::1",
      "2001::1",
      "2001:0:7f00:1::1",
      "2001:10::1",
      "2001:20::1",
      "2001:db8::1",
      "2002:7f00:1::1",
      "2002:a9fe:a9fe::",
      "3fff::1",
      "5f00::1",
      "fc00::1",
      "fd00:ec2::254",
      "fe80::1",
      "fe80::1%eth0",
      "fec0::1",
      "ff02::1",
      "",
      "localhost",
      "1.1.1",
      "01.1.1.1",
      "1.1.1.1:80",
      "[2606:4700::1]",
    ];
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });
});

describe("this machine and its neighbours", () => {
  const entry = (cidr: string) => ({ address: cidr.split("/")[0] ?? "", cidr });
  const leads = (cidrs: readonly string[], address: string): boolean =>
    leadsInto(address, ownBlocks({ lo: undefined, eth0: cidrs.map(entry) }));

  it("are its own addresses, and in IPv6 the link of each", () => {
    expect([
      leads(["8.8.4.4/24"], "8.8.4.4"),
      leads(["10.0.0.1/8", "8.8.4.4/24"], "::ffff:8.8.4.4"),
      leads(["8.8.4.4/24"], "64:ff9b::8.8.4.4"),
      leads(["2606:4700:1:2::5/64"], "2606:4700:1:2::5"),
      leads(["2606:4700:1:2::5/64"], "2606:4700:1:2:ffff::1"),
      leads(["2606:4700:1:2::5/128"], "2606:4700:1:2::6"),
      leads(["2606:4700:1:2::5/48"], "2606:4700:1:2::6"),
      leads(["2606:4700:1:2::5/120"], "2606:4700:1:2::ff"),
      leadsInto("2606:4700:1:2::6", ownBlocks({ tun0: [{ address: "2606:4700:1:2::5", cidr: null }] })),
    ]).toEqual(Array(9).fill(true));
  });

  it("do not include others", () => {
    expect([
      leads([], "8.8.4.4"),
      leads(["8.8.4.4/24"], "8.8.4.5"),
      leads(["8.8.4.4/24"], "::808:404"),
      leads(["2606:4700:1:2::5/64"], "2606:4700:1:3::5"),
      leads(["2606:4700:1:2::5/48"], "2606:4700:1:3::5"),
      leads(["2606:4700:1:2::5/120"], "2606:4700:1:2::100"),
      leads(["fe80::1%eth0/64", "nonsense"], "2606:4700:1:2::5"),
      leads(["8.8.4.4/24"], "localhost"),
    ]).toEqual(Array(8).fill(false));
  });
});

describe("hosts allowed by a configuration", () => {
  const byName = (entries: readonly string[], url: string): boolean => createAllowedHosts(entries).byName(new URL(url));
  const own = ownBlocks({ eth0: [{ address: "8.8.4.4", cidr: "8.8.4.4/24" }] });
  const byAddress = (entries: readonly string[], address: string): boolean =>
    createAllowedHosts(entries).byAddress(address, own);

  it("are accepted in any spelling, with a port or for all of them", () => {
    expect([
      byName(["intranet.test"], "http://intranet.test/"),
      byName(["Intranet.Test."], "https://INTRANET.test.:8443/x"),
      byName([" intranet.test:8080 "], "http://intranet.test:8080/"),
      byName(["intranet.test:443"], "https://intranet.test/"),
      byName(["bücher.test"], "http://xn--bcher-kva.test/"),
      byName(["0x7f.1"], "http://127.0.0.1/"),
      byName(["::1"], "http://[::1]:3000/"),
      byName(["[::1]:3000"], "http://[::1]:3000/"),
      byName(["*"], "http://10.0.0.1/"),
    ]).toEqual(Array(9).fill(true));
  });

  it("exclude similar ones", () => {
    expect([
      byName([], "http://intranet.test/"),
      byName(["intranet.test"], "http://intranet.test.evil.test/"),
      byName(["intranet.test"], "http://evil-intranet.test/"),
      byName(["intranet.test"], "http://sub.intranet.test/"),
      byName(["intranet.test:8080"], "http://intranet.test/"),
      byName(["intranet.test:80"], "https://intranet.test/"),
      byName(["[::1]:3000"], "http://[::1]/"),
      byName(["10.0.0.0/8"], "http://10.0.0.1/"),
      byName(
        ["", "/", "http://intranet.test/", "intranet.test/x", "a@intranet.test", "x:y:z"],
        "http://intranet.test/",
      ),
    ]).toEqual(Array(9).fill(false));
  });

  it("can be blocks of addresses, whatever name led there, and never only an address", () => {
    expect([
      byAddress([], "8.8.8.8"),
      byAddress(["10.1.2.3/32"], "10.1.2.3"),
      byAddress(["10.0.0.0/8"], "10.255.0.1"),
      byAddress([" ::1/128 "], "::1"),
      byAddress(["8.8.4.0/24"], "8.8.4.4"),
      byAddress(["fd00::/8"], "fd12:3456::1"),
      byAddress(["0.0.0.0/0"], "192.168.0.1"),
      byAddress(["192.168.4.0/22"], "192.168.7.255"),
      byAddress(["*"], "::1"),
    ]).toEqual(Array(9).fill(true));
    expect([
      byAddress([], "10.1.2.3"),
      byAddress([], "8.8.4.4"),
      byAddress(["10.1.2.3"], "10.1.2.3"),
      byAddress(["::1", "[::1]"], "::1"),
      byAddress(["10.0.0.0/8"], "11.0.0.1:80"),
      byAddress(["10.0.0.0/8"], "192.168.0.1"),
      byAddress(["192.168.4.0/22"], "192.168.8.0"),
      byAddress(["127.0.0.1:3000"], "127.0.0.1"),
      byAddress(["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "10/8"], "10.0.0.1"),
      byAddress(["::/0"], "10.0.0.1"),
      byAddress(["0.0.0.0/0"], "::1"),
    ]).toEqual(Array(11).fill(false));
  });
});
