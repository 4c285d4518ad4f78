import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// One process, one Swift runtime: libraries built by another minor version of Swift are refused before they are
/// loaded.
struct SwiftRuntimeTests {
    private static let swift = "libTurnstile1.so"
    private static let c = "libClock.so"

    /// A library of this package, which says that another Swift built it; `nil`: as it is.
    private func library(_ name: String, saying swift: Int? = nil) throws -> [UInt8] {
        var bytes = Array(try Data(contentsOf: URL(filePath: BuiltProducts.folder + "/" + name)))
        guard let swift else { return bytes }
        var section = bytes[try #require(ELFImage(bytes).range(ofSection: "backplane"))]
        // In every record that says one, or else in the first.
        var (places, first) = ([Int](), section.startIndex + 20)
        while !section.isEmpty {
            let size = Int(section[section.startIndex + 8]) | Int(section[section.startIndex + 9]) << 8
            let place = section.startIndex + 20
            if section[place] != 0 || section[place + 1] != 0 { places.append(place) }
            section = section.dropFirst((size + 7) / 8 * 8)
        }
        first = places.first ?? first
        for place in places + [first] {
            for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: swift >> (8 * byte)) }
        }
        return bytes
    }

    private func prepare(_ bytes: [UInt8], _ runtime: SwiftRuntime = .ofThisProcess) throws -> LibraryIdentity {
        let folder = try TestFolder(), loads = try LoadFolder(in: folder.path + "/loads")
        let path = try folder.write(bytes, as: "libX.so")
        do throws(BackplaneError) {
            return try LibraryFile.prepare(path, in: loads, runtime: runtime).identity
        } catch {
            let left = try FileTree.names(in: loads.path)
            #expect(left == ["lock"], "a copy of a refused library stayed")
            #expect(error.location == path)
            throw error
        }
    }

    private func refusal(_ bytes: [UInt8], _ runtime: SwiftRuntime = .ofThisProcess) throws -> BackplaneError? {
        #expect(throws: BackplaneError.self) { try prepare(bytes, runtime) }
    }

    private var own: Version { SwiftCompiler.version }
    private func number(_ version: Version) -> Int { version.major * 1_000 + version.minor }

    @Test func `a Swift plugin says which Swift built it, without its author doing anything`() throws {
        let names = ["_Challenge", "Almanac", "Bookshelf", "BooksAPIv1", "BooksAPIv2"]
        for name in names {
            let identity = try prepare(library("lib\(name).so"))
            #expect(identity.hasSwift && identity.swift == own && identity.sdk == HostVersion.text, "\(name)")
        }
        #expect(own >= "6.3.0")
    }

    @Test func `a plugin in C has no Swift in it, though SwiftPM built it`() throws {
        for name in ["Clock", "FixturesInC"] {
            let identity = try prepare(library("lib\(name).so"))
            #expect(!identity.hasSwift && identity.swift == nil && identity.sdk == nil, "\(name)")
        }
    }

    @Test func `a Swift plugin of another minor version is refused before it is loaded`() throws {
        for other in [
            Version(own.major, own.minor - 1), Version(own.major, own.minor + 1), Version(own.major - 1, own.minor),
            Version(own.major + 1, own.minor),
        ] {
            let error = try refusal(library(Self.swift, saying: number(other)))
            #expect(error?.code == .pluginToolchainMismatch)
            let (host, found) = (SwiftRuntime.minor(own), SwiftRuntime.minor(other))
            #expect(
                error?.message
                    == "a process has only one Swift runtime: this host uses Swift \(host), but the library was built with Swift \(found); rebuild it with Swift \(host)"
            )
        }
    }

    @Test func `a Swift plugin that does not say its Swift is refused with advice`() throws {
        let error = try refusal(library(Self.swift, saying: 0))
        #expect(error?.code == .pluginToolchainMismatch)
        #expect(
            error?.message.contains("does not record the version of Swift that built it; link the Backplane SDK")
                == true)
    }

    // MARK: Static runtimes

    @Test func `a host with the runtime linked into itself loads no library`() throws {
        let host = SwiftRuntime(
            version: own, loaded: ["/usr/bin/server", "/lib/x86_64-linux-gnu/libc.so.6", "/opt/swiftCore/libm.so"])
        #expect(!host.isShared)
        for name in [Self.swift, Self.c] {
            let error = try refusal(library(name), host)
            #expect(error?.code == .hostStaticRuntime)
            #expect(error?.message.contains("-static-stdlib") == true)
        }
    }

    @Test func `a host with the runtime as a library loads them, and so does one that cannot tell`() {
        #expect(
            SwiftRuntime(version: own, loaded: ["/usr/bin/server", "/usr/lib/swift/linux/libswiftCore.so"]).isShared)
        #expect(SwiftRuntime(version: own, loaded: nil).isShared)
    }
}
