#if !Engines
enum PlainUsage {
    static let text = """
        backplane, built without engines: the package trait `Engines` adds what needs a package

        USAGE
          backplane run [MANIFEST] [--keep-going] [--no-control] [--json]
                                                              starts every manager, stays until SIGINT or SIGTERM;
                                                              --no-control: no other command can talk to it
          backplane dev [MANIFEST] [--package FOLDER] [--configuration debug|release] [--scratch-path FOLDER]
                                    [--build-flag=FLAG] [--running | --socket PATH] [--json]
                                                              builds the manifest's plugins, runs them, and swaps what you
                                                              save; keys r, b, g, s, q; --running: swaps into the host that
                                                              runs already; --json: a line for each event
          backplane call [MANIFEST] MANAGER METHOD [JSON] [--timeout SECONDS] [--explain [--json]] [--running]
                                                              calls one method, prints its result, explains its wires
          backplane check [MANIFEST] [--json] [--strict] [--lock]
                                                              lists everything that is wrong; starts nothing; --lock
                                                              writes the chosen versions into the manifest
          backplane graph [MANIFEST] [--format mermaid|dot|json]
                                                              draws components, wires and their lanes
          backplane explain [MANIFEST] NAME [--json] [--running]
                                                              says why a manager is as it is, or cannot be created
          backplane services [MANIFEST] [--json] [--running]  lists what each plugin registers, and who uses it
          backplane names [MANIFEST] [--json]                 prints a constant for each manager, in Swift
          backplane convert [MANIFEST] [--to json|xml|binary] [--output FILE [--force]] [--upgrade]
                                                              spells a manifest in another format; --upgrade makes a plain
                                                              Nemo Logic one ours
          backplane inspect LIBRARY [--json] [--timeout SECONDS] [--load-folder FOLDER]
                                                              says what a library is and brings, and whether it loads
          backplane validate LIBRARY [--json] [--timeout SECONDS] [--load-folder FOLDER]
                                                              tells a plugin's author what it does that it should not, by
                                                              numbered requirements; --timeout: for each step, call and
                                                              answer of its checks, 10 unless it says otherwise
          backplane new package|app NAME [--backplane PATH|URL] [--json]
                                                              makes a package of a plugin, or a program with a host and its
                                                              first plugin; NAME may have a path before it
          backplane new plugin NAME [--package FOLDER] [--manifest MANIFEST] [--backplane PATH|URL] [--json]
                                                              adds a plugin to the package around the current folder
          backplane new manager NAME [--dac] [--service] [--plugin PLUGIN] [--package FOLDER] [--manifest MANIFEST] [--json]
                                                              adds a manager and its layers to a plugin of that package
          backplane bench [SUITE] [--only TEXT] [--quick | --iterations COUNT] [--json]
                                                              measures what Backplane costs, in a release build

        ON A HOST THAT RUNS
          backplane swap LIBRARY... [--dry-run] [--probation SECONDS [--error-rate PART]] [--timeout SECONDS]
                                    [--discard-state] [--json]
                                                              puts new builds in force, all of them or none; --dry-run
                                                              says what that would do
          backplane rollback PLUGIN [--to GENERATION] [the options of swap but --dry-run]
                                                              swaps back to an older generation
          backplane generations [PLUGIN] [--json]             lists what is in memory of plugins, and what holds it
          backplane stats [--json]                            lists what was asked of every component
          backplane apply [MANIFEST] [--environment NAME] [--json]
                                                              puts a manifest in force
          backplane reset [NAME] [--json]                     makes a manager anew, or everything that is up
          All of these, and `call`, `explain` and `services` with --running, talk to the one host of yours that runs. Where
          there are several: --manifest MANIFEST takes the one that runs it, with --running the first word does; --socket
          PATH takes the one that listens there; otherwise it is the one with the manifest of the current folder.

        Without MANIFEST it is the first of backplane.json, backplane.plist and NLManagerProvider.plist that is in the current
        folder. Of `call` and `explain` the first word is a manifest if it names a file that is there, has a slash in it, or
        ends in .json or .plist; otherwise it is the manager.

        OPTIONS OF ALL THAT TAKE A MANIFEST
          --environment NAME       the manifest's environment to use (default: $BACKPLANE_ENVIRONMENT, or none)
          --plugin-path FOLDER     a folder to look for libraries in; may be given again
          --load-folder FOLDER     where libraries are copied to before they are loaded
          --data FOLDER            where data access controllers keep their data
          --log-level LEVEL        trace, debug, info, notice, warning, error, critical (default: notice)

        EXAMPLES
          backplane check
          backplane check manifests/almanac.json
          backplane call manifests/almanac.json AlmanacManager on '"07-20"'
          backplane run manifests/almanac.json
          backplane run manifests/almanac.json --keep-going
          backplane dev manifests/almanac.json
          backplane dev backplane.json --package ../weather-plugin
          backplane call AlmanacManager on '"07-20"' --running
          backplane swap .build/debug/libAlmanac.so --dry-run
          backplane swap Almanac --probation 30 --error-rate 0.05
          backplane rollback org.backplane.almanac
          backplane generations --manifest manifests/almanac.json
          backplane apply manifests/almanac.json
          backplane graph manifests/bookshelf-both.json
          backplane graph manifests/bookshelf-both.json --format dot | dot -Tsvg > graph.svg
          backplane explain manifests/bookshelf-both.json LibraryManager
          backplane services manifests/bookshelf-both.json
          backplane names manifests/bookshelf.json > Managers.swift
          backplane convert manifests/almanac.plist --upgrade
          backplane inspect .build/debug/libClock.so
          backplane validate .build/debug/libClock.so
          backplane validate Bookshelf --timeout 30 --json
          backplane new package Tides
          backplane new package plugins/Tides --backplane ../backplane
          backplane new manager Weather --dac --service
          backplane new plugin Ferry --package ../harbour
          backplane new app Harbour
          backplane bench boundary --only actor
          backplane bench composition --quick
        """
}
#endif
