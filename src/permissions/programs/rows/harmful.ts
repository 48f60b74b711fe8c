import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";

/**
 * Programs that would be `high` without a row as well. The rows give users a better reason, and come last, so that
 * earlier rows can give specific calls a lower class.
 */
export const harmfulRows: readonly CommandRow[] = readTable(`
  high rm unlink shred: deletes files, which cannot be undone
  high truncate dd wipefs mkfs fdisk parted: overwrites files or disks
  high git [push]: sends commits to another repository
  high git [reset]: may discard uncommitted changes
  high git [stash drop|stash clear]: discards stashed changes
  high git [rm]: deletes files
  high git [clean]: deletes untracked files
  high git [checkout|restore]: may discard uncommitted changes
  high git [config --list|config -l|config list|config --get-regexp|config --global --list|config --global -l|
    config --local --list]: shows all settings, which may contain credentials
  high git [config]: shows or changes settings, which may be secret or make git run programs
    writes=(.git/config ~/.gitconfig)
  high git [filter-branch|replace|update-ref|reflog expire]: rewrites history
  high git [send-email|request-pull|svn|daemon|http-push]: sends data to others
  high chown chgrp chattr setfacl: changes the ownership or access of files
  high kill pkill killall skill: ends processes
  high shutdown reboot halt poweroff init telinit: stops the machine
  high systemctl service launchctl rc-service: changes what runs on this machine
  low crontab [-l]: prints the user's scheduled commands
  high crontab at batch: schedules commands
    writes=/var/spool/cron
  high tinman [mcp trust|mcp add|mcp remove|mcp enable|mcp disable|mcp login|mcp logout|mcp test]:
    starts programs, or decides which ones Tinman starts
    writes=~/.tinman/mcp.json
  high mount umount swapon swapoff losetup: changes file systems
  high iptables nft ufw ip ifconfig route sysctl: changes the network or the kernel
  high useradd userdel usermod passwd chpasswd visudo: changes users or their rights
  high su pkexec runuser setpriv chroot unshare nsenter: runs a command with other rights or in another environment
  high ssh scp sftp rsync ftp telnet nc ncat netcat socat: connects to another machine
  high mail mailx sendmail mutt: sends mail
  high apt apt-get dpkg yum dnf rpm pacman apk zypper snap flatpak: changes the system's programs
  high python python2 python3 perl ruby php lua node deno bun: runs an unknown script
  high zsh fish ksh csh tcsh pwsh powershell busybox: starts a shell whose commands are not examined
  high vi vim nvim emacs nano ed ex: starts an editor, which can run anything
  high gdb strace ltrace: runs or changes another program
  high docker podman nerdctl: runs or changes containers
  high kubectl helm terraform tofu pulumi ansible ansible-playbook: changes other machines
  high aws gcloud az doctl fly vercel netlify heroku: uses or changes cloud services
  high npm pnpm yarn [publish|unpublish|deprecate|owner|access|token|login|
    adduser]: changes a package registry or its login
  high cargo [publish|yank|owner|login]: changes a package registry or its login
  high gh glab hub: may change a project on a hosting service
  high curl wget: may send data, or do more than fetch a file
  high alias unalias unset mapfile readarray getopts let shopt enable hash bind complete:
    changes how the shell interprets later commands
  high cloc: passes file names to a shell, which may run parts of them
  high watch script flock parallel setsid screen tmux xterm: runs a command that is not examined
`);
