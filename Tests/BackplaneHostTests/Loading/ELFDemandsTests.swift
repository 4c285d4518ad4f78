import BackplaneHost
import Foundation
import TestGenerators
import Testing

/// What a library asks of the loader, and what it shows to others, read from its file.
@Suite(.timeLimit(.minutes(5)))
struct ELFDemandsTests {
    private func image(_ source: String, _ flags: String...) throws -> ELFImage {
        try ELFImage(LoadingFixture.library(of: source, flags))
    }

    @Test func `a plain library needs libc, and runs nothing of its own`() throws {
        let demands = try image("int one(void) { return 1; }").demands()
        #expect(demands.needed == ["libc.so.6"])
        #expect(demands.initialisers.sorted() == ["_init", "frame_dummy"])
        #expect(!demands.relocatesText && !demands.hasExecutableStack && !demands.hasWritableCode)
    }

    @Test func `a constructor is named, and so is what takes its place`() throws {
        let source = "__attribute__((constructor)) static void greet(void) {} void begin(void) {}"
        #expect(try image(source).demands().initialisers.contains("greet"))
        #expect(try image(source, "-Wl,-init=begin").demands().initialisers.contains("begin"))
    }

    @Test func `one that was stripped still tells how many there are`() throws {
        let stripped = try image("__attribute__((constructor)) static void greet(void) {}", "-s")
        #expect(stripped.isStripped)
        #expect(try stripped.demands().initialisers.count == 3)
    }

    @Test func `a stack that code runs on, and code that is changed, are noticed`() throws {
        #expect(try image("int one(void) { return 1; }", "-Wl,-z,execstack").demands().hasExecutableStack)
        let source = #"int word; __asm__(".text\nmovabs $word, %rax\n");"#
        #expect(try image(source, "-Wl,-z,notext", "-fuse-ld=bfd").demands().relocatesText)
    }

    @Test func `what others may take for theirs is listed, and what is hidden or protected is not`() throws {
        let source = """
            int shown(void) { return 1; }
            int variable = 2;
            __attribute__((weak)) int weak(void) { return 1; }
            __attribute__((visibility("hidden"))) int hidden(void) { return 1; }
            __attribute__((visibility("protected"))) int kept(void) { return 1; }
            static int local(void) { return 1; }
            int (*used)(void) = local;
            """
        #expect(try image(source).interposable == ["shown", "used", "variable", "weak"])
    }

    @Test func `bytes that say anything end in a problem at most`() throws {
        let whole = try LoadingFixture.library(of: "__attribute__((constructor)) static void greet(void) {}", [])
        var numbers = SeededNumbers(6)
        for _ in 0..<2_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = .random(in: 0...255, using: &numbers)
            }
            guard let image = try? ELFImage(bytes) else { continue }
            _ = image.interposable
            _ = try? image.demands()
            _ = try? image.requireLoadable()
            _ = try? image.retroactiveConformances()
            _ = try? image.usersOfResourceBundles()
        }
    }
}
