// Errors leave native code as numbers, because no C++ exception may cross into Python.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>

#define HEADWAY_EXPORT extern "C" __attribute__((visibility("default")))

#if !defined(HEADWAY_IDENTITY)  // variants.py defines it: variant, digest of sources, compiler
#define HEADWAY_IDENTITY ""
#endif

#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 11
// Code of this release calls it, and the library of an older system does not have it. It is weak, because a
// compiler that links its own library statically brings another one.
[[noreturn, gnu::weak]] void std::__throw_bad_array_new_length() { throw std::bad_alloc(); }
#endif

namespace headway {

// Results of exported functions; interface.py raises a Python exception for each error.
enum Status { SUCCESS = 0, OUT_OF_RANGE = 1, OUT_OF_MEMORY = 2, FAILURE = 3 };

template <class Work> int guarded(Work&& work) noexcept {
    try {
        work();
        return SUCCESS;
    } catch (const std::out_of_range&) {
        return OUT_OF_RANGE;
    } catch (const std::bad_alloc&) {
        return OUT_OF_MEMORY;
    } catch (const std::length_error&) {  // a vector of more elements than can be addressed
        return OUT_OF_MEMORY;
    } catch (...) {
        return FAILURE;
    }
}

// Carries an error out of an OpenMP region, which an exception must not leave.
class RegionErrors {
public:
    // Run some work inside a thread of the region; returns whether it succeeded.
    template <class Work> bool attempt(Work&& work) noexcept {
        const int status = guarded(work);
        if (status != SUCCESS) status_ = status;
        return status == SUCCESS;
    }

    // Throw the error of any thread, after the region.
    void rethrow() const {
        if (status_ == OUT_OF_RANGE) throw std::out_of_range("a number is out of range");
        if (status_ == OUT_OF_MEMORY) throw std::bad_alloc();
        if (status_ != SUCCESS) throw std::runtime_error("a thread failed");
    }

private:
    std::atomic<int> status_{SUCCESS};
};

}  // namespace headway
